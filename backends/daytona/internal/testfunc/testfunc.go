// Package testfunc holds the functions that the tests of package daytona call. They are declared
// here, in a package that is no test, so that runners have them.
package testfunc

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/remote-box/remote"
)

// Size returns the length of a text.
var Size = remote.New(func(_ context.Context, text string) (int, error) { return len(text), nil }, remote.Name("Size"))

// Fill returns a text of n bytes.
var Fill = remote.New(func(_ context.Context, n int) (string, error) {
	return strings.Repeat("0123456789abcdef", n/16+1)[:n], nil
}, remote.Name("Fill"))

// Bytes returns n bytes.
var Bytes = remote.New(func(_ context.Context, n int) ([]byte, error) { return make([]byte, n), nil }, remote.Name("Bytes"))

// Count counts its runs of one kind in a file, prints, and returns how often it has run.
var Count = remote.New(func(_ context.Context, kind string) (int, error) {
	f, err := os.OpenFile("/tmp/runs-"+kind, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if _, err := f.WriteString("x"); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	fmt.Println("ran", kind)
	return int(info.Size()), nil
}, remote.Name("Count"))

// Runs tells how often Count has run.
var Runs = remote.New(func(_ context.Context, kind string) (int, error) {
	info, err := os.Stat("/tmp/runs-" + kind)
	if err != nil {
		return 0, nil
	}
	return int(info.Size()), nil
}, remote.Name("Runs"))

// Slow says that it has begun, waits, and returns how long it was told to.
var Slow = remote.New(func(ctx context.Context, d time.Duration) (string, error) {
	fmt.Println("ready")
	select {
	case <-time.After(d):
		return d.String(), nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}, remote.Name("Slow"))

// Shell runs a script and returns what it prints.
var Shell = remote.New(func(ctx context.Context, script string) (string, error) {
	out, err := exec.CommandContext(ctx, "/bin/sh", "-c", script).CombinedOutput()
	return string(out), err
}, remote.Name("Shell"))
