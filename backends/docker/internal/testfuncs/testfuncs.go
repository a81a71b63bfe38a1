// Package testfuncs holds the functions that the tests of package docker call in containers. They
// are declared here because a runner is built from packages, not from test files.
package testfuncs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/remote-box/remote"
	_ "github.com/remote-box/remote/backends/backendtest" // for its functions, which the conformance suite calls
)

// Nothing is an empty input or output.
type Nothing struct{}

// Greeting is what the benchmarks send and get.
type Greeting struct{ Text string }

// Greet is the smallest of functions.
var Greet = remote.New(func(_ context.Context, in Greeting) (Greeting, error) {
	return Greeting{"Hello " + in.Text + "!"}, nil
}, remote.Name("greet"))

// Fill returns a text of n bytes.
var Fill = remote.New(func(_ context.Context, n int) (string, error) { return strings.Repeat("x", n), nil }, remote.Name("fill"))

// Count prints the numbers below n, a line each, to both outputs.
var Count = remote.New(func(_ context.Context, n int) (int, error) {
	for i := range n {
		fmt.Println(i)
		fmt.Fprintln(os.Stderr, i)
	}
	return n, nil
}, remote.Name("count"))

// Devour takes memory, in MiB, and uses it.
var Devour = remote.New(func(_ context.Context, mib int) (int, error) {
	var hoard [][]byte
	for range mib {
		b := make([]byte, 1<<20)
		for i := range b {
			b[i] = byte(i)
		}
		hoard = append(hoard, b)
	}
	return len(hoard), nil
}, remote.Name("devour"))

// Surroundings is what a function finds around it.
type Surroundings struct {
	UID, GID        int
	User, Home, Dir string
	Roots           bool
	Zone            string
	Interfaces      []string
	Writable        map[string]bool
	Env             map[string]string
	WorkdirMode     string
	TmpMode         string
	Found           []string // filled in by tests
}

// Look describes the surroundings; dirs are tried whether they can be written to.
var Look = remote.New(func(_ context.Context, dirs []string) (s Surroundings, err error) {
	s.UID, s.GID = os.Getuid(), os.Getgid()
	if u, err := user.Current(); err == nil {
		s.User, s.Home = u.Username, u.HomeDir
	}
	s.Dir, err = os.Getwd()
	if err != nil {
		return s, err
	}
	if info, err := os.Stat(s.Dir); err == nil {
		s.WorkdirMode = info.Mode().String()
	}
	if info, err := os.Stat("/tmp"); err == nil {
		s.TmpMode = info.Mode().String()
	}
	_, err = os.Stat("/etc/ssl/certs/ca-certificates.crt")
	s.Roots = err == nil
	if zone, err := time.LoadLocation("Australia/Lord_Howe"); err == nil {
		s.Zone = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).In(zone).Format("15:04 -07:00")
	}
	interfaces, err := net.Interfaces()
	if err != nil {
		return s, err
	}
	for _, i := range interfaces {
		s.Interfaces = append(s.Interfaces, i.Name)
	}
	s.Env = map[string]string{}
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		s.Env[name] = value
	}
	s.Writable = map[string]bool{}
	for _, dir := range dirs {
		name := filepath.Join(dir, ".probe")
		s.Writable[dir] = os.WriteFile(name, nil, 0o600) == nil && os.Remove(name) == nil
	}
	return s, nil
}, remote.Name("look"))

// List lists what is below a directory: paths from there, directories with a slash at the end.
var List = remote.New(func(_ context.Context, dir string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if d.IsDir() {
			rel += "/"
		}
		paths = append(paths, rel)
		return nil
	})
	slices.Sort(paths)
	return paths, err
}, remote.Name("list"))

// Read reads a file.
var Read = remote.New(func(_ context.Context, name string) (string, error) {
	b, err := os.ReadFile(name)
	return string(b), err
}, remote.Name("read"))

// Write writes a file, whose name comes first.
var Write = remote.New(func(_ context.Context, in [2]string) (Nothing, error) {
	return Nothing{}, os.WriteFile(in[0], []byte(in[1]), 0o600)
}, remote.Name("write"))

// AwaitFile notes that it has begun in one file, waits until the other is there, and counts in a third
// how often it ran.
var AwaitFile = remote.New(func(ctx context.Context, names [3]string) (string, error) {
	f, err := os.OpenFile(names[2], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString("x")
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if err := os.WriteFile(names[0], nil, 0o600); err != nil {
		return "", err
	}
	fmt.Println("began")
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(names[1]); err == nil {
			ran, err := os.ReadFile(names[2])
			return string(ran), err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}, remote.Name("awaitFile"))

// Linger leaves a process running that does nothing, and returns its pid.
var Linger = remote.New(func(context.Context, Nothing) (int, error) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), lingerVariable+"=1")
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	pid := cmd.Process.Pid // Release forgets it
	return pid, cmd.Process.Release()
}, remote.Name("linger"))

// Alive reports whether a process exists.
var Alive = remote.New(func(_ context.Context, pid int) (bool, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false, nil
	}
	_, state, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(state, "Z"), nil
}, remote.Name("alive"))

const lingerVariable = "TESTFUNCS_LINGER"

// It is looked at while packages initialise, because the main function is a runner's.
var _ = linger()

func linger() bool {
	if os.Getenv(lingerVariable) != "" {
		time.Sleep(10 * time.Minute)
		os.Exit(0)
	}
	return true
}
