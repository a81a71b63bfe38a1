//go:build !remotebox_runner

package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// hostSettings are settings that decide what host programs are built, besides those of
// settingsArgs. Those that name the C compiler's flags are left out: the go command starts it to
// find them.
var hostSettings = []string{
	"AR", "CC", "CGO_ENABLED", "CXX", "FC", "GCCGO", "GO386", "GOAMD64", "GOARM", "GOARM64", "GODEBUG", "GOENV",
	"GOEXPERIMENT", "GOFIPS140", "GOROOT",
}

// ErrNoModule says that a directory is in no module. ErrModulesOff says that the go command was
// told not to look for one.
var (
	ErrNoModule   = errors.New("there is no go.mod")
	ErrModulesOff = errors.New("GO111MODULE=off makes the go command ignore every go.mod; unset it, or set it to on (go env -w GO111MODULE=on)")
)

// readSettings reads the go command's settings as they hold in its directory, and makes sure that
// it can build at all: it fails late, and with other words, where there is no home.
func (g *goCommand) readSettings(ctx context.Context, what string, more ...string) error {
	args := slices.Concat([]string{"env", "-json", "GOFLAGS", "GOMOD", "GOVERSION", "GO111MODULE"}, keptSettings, more)
	out, err := g.run(ctx, what, args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, &g.settings); err != nil {
		return err
	}
	g.version = g.settings["GOVERSION"]
	switch {
	case g.settings["GOMODCACHE"] == "":
		return errors.New("the go command has no place for modules: set HOME, or GOPATH, or GOMODCACHE")
	case g.settings["GOCACHE"] == "" || g.settings["GOCACHE"] == "off":
		return errors.New("the go command has no cache for builds: set HOME, or XDG_CACHE_HOME, or GOCACHE")
	case g.settings["GO111MODULE"] == "off":
		return ErrModulesOff
	}
	return nil
}

// noModule is the error of a directory in no module.
func noModule(dir string) error { return fmt.Errorf("%w in %s or above it", ErrNoModule, dir) }
