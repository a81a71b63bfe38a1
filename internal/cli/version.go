package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is what the build recorded: the module's version, or that of the sources.
func version() string {
	v := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok {
		v = info.Main.Version
		if v == "" {
			v = "(devel)"
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && v == "(devel)" {
				v += " " + s.Value
			}
		}
	}
	return fmt.Sprintf("%s %s %s/%s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
