package backendtest

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

// childVariable makes this program, started again, one of the children that the functions need:
// a sandbox may hold no other program.
const childVariable = "BACKENDTEST_CHILD"

// It is looked at while packages initialise, because the main function is a runner's.
var _ = child()

func child() bool {
	switch os.Getenv(childVariable) {
	case "":
		return false
	case "say":
		fmt.Println("child out")
		fmt.Fprintln(os.Stderr, "child err")
	case "exit":
		fmt.Println("to stdout")
		fmt.Fprintln(os.Stderr, "to stderr")
		os.Exit(7)
	case "sleep":
		time.Sleep(5 * time.Minute)
	case "sleep loudly":
		fmt.Println("ready")
		time.Sleep(5 * time.Minute)
	case "chatter":
		for range 5 * 60 * 100 {
			fmt.Println("background")
			time.Sleep(10 * time.Millisecond)
		}
	}
	os.Exit(0)
	return true
}

func childCommand(mode string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childVariable+"="+mode)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd
}

func runChild(mode string) error { return childCommand(mode).Run() }

// startChild starts a child in a session of its own and leaves it alone.
func startChild(mode string) (pid int, err error) {
	cmd := childCommand(mode)
	cmd.SysProcAttr = ownSession()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	pid = cmd.Process.Pid
	return pid, cmd.Process.Release()
}
