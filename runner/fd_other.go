//go:build !unix

package runner

import (
	"errors"
	"os"
)

func closeOnExec(uintptr) {}

func takeStdout() (*os.File, error) {
	return nil, errors.New("a runner needs a Unix system")
}
