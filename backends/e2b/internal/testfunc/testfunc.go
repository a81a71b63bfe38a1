// Package testfunc holds the functions that the tests of package e2b call. They are declared here,
// in a package that is no test, so that runners have them.
package testfunc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/remote-box/remote"
)

// Where is what a function finds around it.
type Where struct {
	User, Dir, Path string
	Env             map[string]string
	Files           map[string]string
}

// Once counts its runs of one kind in a file, and prints.
var Once = remote.New(func(_ context.Context, key string) (int, error) {
	f, err := os.OpenFile("/tmp/runs-"+key, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
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
	fmt.Println("ran", key)
	return int(info.Size()), nil
}, remote.Name("Once"))

// Runs tells how often Once has run.
var Runs = remote.New(func(_ context.Context, key string) (int, error) {
	info, err := os.Stat("/tmp/runs-" + key)
	if err != nil {
		return 0, nil
	}
	return int(info.Size()), nil
}, remote.Name("Runs"))

// Fill returns a text of n bytes.
var Fill = remote.New(func(_ context.Context, n int) (string, error) {
	return strings.Repeat("0123456789abcdef", n/16+1)[:n], nil
}, remote.Name("Fill"))

// Size returns the length of a text.
var Size = remote.New(func(_ context.Context, text string) (int, error) { return len(text), nil }, remote.Name("Size"))

// Slow says that it has begun, and returns after some time.
var Slow = remote.New(func(ctx context.Context, d time.Duration) (string, error) {
	fmt.Println("begun")
	select {
	case <-time.After(d):
		return "done", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}, remote.Name("Slow"))

// Look looks around: at the user, the variables and the files that are asked for.
var Look = remote.New(func(_ context.Context, files []string) (Where, error) {
	w := Where{Env: map[string]string{}, Files: map[string]string{}}
	u, err := user.Current()
	if err != nil {
		return w, err
	}
	w.User, w.Path = u.Username, os.Getenv("PATH")
	if w.Dir, err = os.Getwd(); err != nil {
		return w, err
	}
	for _, v := range os.Environ() {
		k, v, _ := strings.Cut(v, "=")
		w.Env[k] = v
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		info, serr := os.Lstat(name)
		if err := errors.Join(err, serr); err != nil {
			w.Files[name] = "error: " + err.Error()
			continue
		}
		w.Files[name] = fmt.Sprintf("%v %s", info.Mode(), b)
	}
	return w, nil
}, remote.Name("Look"))

// Alive counts the processes whose command line holds a text.
var Alive = remote.New(func(_ context.Context, text string) (int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	n := 0
	for _, e := range entries {
		b, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && strings.Contains(string(b), text) {
			n++
		}
	}
	return n, nil
}, remote.Name("Alive"))

// Limited is Fill for at most 64 KiB + 1.
var Limited = remote.New(func(_ context.Context, n int) (string, error) {
	return strings.Repeat("x", n), nil
}, remote.Name("Limited"), remote.MaxResult(64<<10+1))

// Chatter prints n numbered lines, slowly.
var Chatter = remote.New(func(_ context.Context, n int) (int, error) {
	for i := range n {
		fmt.Println("line", i)
		time.Sleep(10 * time.Millisecond)
	}
	return n, nil
}, remote.Name("Chatter"))
