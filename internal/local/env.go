//go:build !remotebox_runner

package local

import (
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/remote-box/remote/internal/proc"
	"github.com/remote-box/remote/internal/registry"
)

// passedOn are the variables that a function sees of this program's environment, besides LC_*.
var passedOn = []string{"PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR"}

// providerKeys are credentials of sandbox providers: no function gets them by inheritance.
var providerKeys = []string{
	"E2B_API_KEY", "E2B_ACCESS_TOKEN", "DAYTONA_API_KEY", "DAYTONA_JWT_TOKEN",
	"MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET",
}

// environ is the environment of a process in the sandbox id.
func (c *Config) environ(id string) []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "REMOTE_BOX_") || slices.Contains(providerKeys, name) || name == "PWD" {
			continue
		}
		if c.InheritEnv || strings.HasPrefix(name, "LC_") || slices.Contains(passedOn, name) {
			env = append(env, v)
		}
	}
	if raceDetector() {
		// A program that is its own runner would else sleep a second at every process's end.
		env = append(env, "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		env = append(env, name+"="+c.Env[name])
	}
	return append(env, proc.Tag+"="+id)
}

// raceDetector reports whether this program is its own runner and was built with -race.
func raceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && registry.SelfRunner() && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
