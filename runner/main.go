// Package runner is the sandbox's side of remote-box: what runs a registered function where the
// host's calls arrive.
//
// Programs rarely need it. A runner built by remote-box calls Main by itself. A program that calls
// Main first thing in its main function, or in TestMain, can be started again as its own runner,
// so that no Go toolchain is needed where it runs; tests of functions that are declared in _test.go
// files need that:
//
//	func TestMain(m *testing.M) {
//		runner.Main()
//		os.Exit(m.Run())
//	}
package runner

import (
	"fmt"
	"os"

	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/registry"
)

// Main makes the program a runner. In a process that was started as a runner it serves calls and
// never returns; in any other it only notes that the program may be started again as one, and
// returns at once. Call it before anything else, and only from main or TestMain.
func Main() {
	mode := os.Getenv(callproc.EnvMode)
	if mode == "" {
		serveHost()
		if registry.RunnerBuild {
			fmt.Fprintln(os.Stderr, "this is a remote-box runner: it runs inside a sandbox, started by the program whose functions it holds")
			os.Exit(2)
		}
		registry.MarkSelfRunner()
		return
	}
	os.Unsetenv(callproc.EnvMode)
	os.Exit(run(mode))
}

func run(mode string) int {
	switch mode {
	case callproc.ModeCall:
		return runCall()
	case callproc.ModeServe:
		return runServe()
	case callproc.ModeInit:
		return runInit()
	case callproc.ModeAttach:
		return runAttach()
	case callproc.ModeKill:
		return runKill()
	case callproc.ModeOnce:
		return runOnce()
	case callproc.ModeResult:
		return runResult()
	case callproc.ModeCancel:
		return runCancel()
	case callproc.ModeDrain:
		return runDrain()
	case callproc.ModeList:
		return runList()
	}
	fmt.Fprintf(os.Stderr, "remote-box runner: unknown mode %q; host and runner are of different versions\n", mode)
	return 2
}

// take reads an environment variable and removes it: what the runner is told is not for the
// function.
func take(name string) string {
	v := os.Getenv(name)
	os.Unsetenv(name)
	return v
}
