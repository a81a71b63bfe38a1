//go:build !remotebox_runner

package build

import (
	"go/build"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/remote-box/remote/driver"
)

// keptSettings are the go command's settings that say where modules and tools come from. What
// decides the bytes of a binary is not among them.
var keptSettings = []string{
	"GOAUTH", "GOCACHE", "GOCACHEPROG", "GOINSECURE", "GOMODCACHE", "GONOPROXY", "GONOSUMDB",
	"GOPATH", "GOPRIVATE", "GOPROXY", "GOSUMDB", "GOTMPDIR", "GOTOOLCHAIN", "GOVCS", "GOWORK",
}

// keptVariables are what programs need to run at all, or to reach the network.
var keptVariables = []string{
	"PATH", "HOME", "USER", "TMPDIR", "GOROOT", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "SSH_AUTH_SOCK", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_TERMINAL_PROMPT",
	// Windows
	"TMP", "TEMP", "SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
}

func isKept(name string) bool {
	return slices.ContainsFunc(keptVariables, func(kept string) bool {
		return kept == name || runtime.GOOS == "windows" && strings.EqualFold(kept, name)
	})
}

// fixedEnvironment is the environment of a build: the kept settings and variables, what the target
// asks for, and what no shell decides.
func fixedEnvironment(settings map[string]string, t driver.Target) []string {
	var env []string
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); isKept(name) {
			env = append(env, v)
		}
	}
	for _, name := range keptSettings {
		if v := settings[name]; v != "" {
			env = append(env, name+"="+v)
		}
	}
	if settings["GOWORK"] == "" {
		env = append(env, "GOWORK=off")
	}
	// The last value counts.
	env = append(env, t.Build.Env...)
	env = append(
		env,
		"GOENV=off", "GOFLAGS=-buildvcs=false", "GO111MODULE=on",
		"GOOS="+t.OS, "GOARCH="+t.Arch, "GOEXPERIMENT=", "GOFIPS140=off", "GODEBUG=",
	)
	switch t.Arch {
	case "amd64":
		env = append(env, "GOAMD64=v1")
	case "arm64":
		env = append(env, "GOARM64=v8.0")
	}
	if t.Build.CGO {
		return append(env, "CGO_ENABLED=1")
	}
	return append(env, "CGO_ENABLED=0")
}

// parseFlags reads a value of GOFLAGS: flags between spaces, some of them in quotes.
func parseFlags(goflags string) map[string]string {
	flags := map[string]string{}
	for rest := strings.TrimSpace(goflags); rest != ""; rest = strings.TrimSpace(rest) {
		var flag string
		if q := rest[:1]; q == `"` || q == `'` {
			flag, rest, _ = strings.Cut(rest[1:], q)
		} else if i := strings.IndexAny(rest, " \t\r\n"); i >= 0 {
			flag, rest = rest[:i], rest[i:]
		} else {
			flag, rest = rest, ""
		}
		name, value, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		flags[name] = value
	}
	return flags
}

// splitTags reads a list of build tags.
func splitTags(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// buildContext is what decides which files of a directory are compiled.
func (g *goCommand) buildContext() *build.Context {
	c := build.Default
	c.GOOS, c.GOARCH, c.CgoEnabled, c.BuildTags = g.target.OS, g.target.Arch, g.target.Build.CGO, g.tags
	// Those of the go command, which may be of another version than this program's.
	minor, _, _ := strings.Cut(strings.TrimPrefix(g.version, "go1."), ".")
	if n, err := strconv.Atoi(minor); err == nil {
		c.ReleaseTags = nil
		for i := 1; i <= n; i++ {
			c.ReleaseTags = append(c.ReleaseTags, "go1."+strconv.Itoa(i))
		}
	}
	return &c
}
