package cli

import (
	"io/fs"
	"os"
)

// terminal is where builds may show a live display, or nil: standard error must be a terminal that a
// person looks at, and builds must come one after another, which they do there unless the user
// has chosen how many run at once.
func (a *app) terminal() *os.File {
	f, ok := a.stderr.(*os.File)
	if !ok || a.json || !a.oneByOne || os.Getenv("CI") != "" || os.Getenv("GITHUB_ACTIONS") != "" || os.Getenv("TERM") == "dumb" {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&fs.ModeCharDevice == 0 {
		return nil
	}
	return f
}
