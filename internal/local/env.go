//go:build !remotebox_runner

package local

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/remote-box/remote/internal/proc"
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
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		env = append(env, name+"="+c.Env[name])
	}
	return append(env, proc.Tag+"="+id)
}
