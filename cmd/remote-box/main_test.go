package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("u", false, "update the transcripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"remote-box": main})
}

// TestScripts runs the command's specification.
func TestScripts(t *testing.T) {
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"gomod": gomod, "rc": rc},
		Setup: func(env *testscript.Env) error {
			env.Setenv("REPO", repo)
			env.Setenv("BIN", filepath.SplitList(env.Getenv("PATH"))[0]) // with the command alone
			env.Setenv("FAKE_IMAGES", filepath.Join(env.WorkDir, ".images"))
			env.Setenv("REMOTE_BOX_CACHE", cache)
			env.Setenv("HOME", filepath.Join(env.WorkDir, ".home"))
			env.Setenv("GOFLAGS", "")
			env.Setenv("GOPROXY", "off")
			env.Setenv("GOSUMDB", "off")
			for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOROOT"} {
				env.Setenv(name, goEnv(t, name))
			}
			return os.MkdirAll(filepath.Join(env.WorkDir, ".images"), 0o700)
		},
	})
}

// gomod writes the go.mod and go.sum of a user's module, which requires the module of this
// repository as it is here, and the fake backend: gomod example.com/shop [dir].
func gomod(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: gomod path [dir]")
	}
	dir := ts.MkAbs(".")
	if len(args) == 2 {
		dir = ts.MkAbs(args[1])
	}
	mod, sum, err := userModule(ts.Getenv("REPO"), args[0])
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600))
	ts.Check(os.WriteFile(filepath.Join(dir, "go.sum"), []byte(sum), 0o600))
}

// userModule is the go.mod and the go.sum of a module that uses the one of this repository.
func userModule(repo, path string) (mod, sum string, err error) {
	own, err := os.ReadFile(filepath.Join(repo, "go.mod"))
	if err != nil {
		return "", "", err
	}
	sums, err := os.ReadFile(filepath.Join(repo, "go.sum"))
	if err != nil {
		return "", "", err
	}
	_, requires, _ := strings.Cut(string(own), "\nrequire")
	return "module " + path + "\n\ngo 1.26.0\n\n" +
		"require (\n\tgithub.com/remote-box/remote v0.0.0\n\tgithub.com/remote-box/remote/fakeimage v0.0.0\n)\n\n" +
		"require" + requires + "\n" +
		"replace github.com/remote-box/remote => " + repo + "\n\n" +
		"replace github.com/remote-box/remote/fakeimage => " + filepath.Join(repo, "cmd/remote-box/testdata/fakeimage") + "\n", string(sums), nil
}

// rc runs a command that must end with an exit code: rc 2 remote-box build.
func rc(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: rc code command args…")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		code = e.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("%s ended with code %d, not %s", strings.Join(args[1:], " "), code, args[0])
	}
}
