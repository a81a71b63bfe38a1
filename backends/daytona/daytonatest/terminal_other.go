//go:build !linux && !remotebox_runner

package daytonatest

import (
	"errors"
	"os"
	"os/exec"
)

func openTerminal(machine, int, int) (term, tty *os.File, err error) {
	return nil, nil, errors.New("terminals: " + errors.ErrUnsupported.Error() + " outside Linux")
}

func resizeTerminal(*os.File, int, int) error { return errors.ErrUnsupported }

func controlTerminal(*exec.Cmd) {}
