//go:build unix && !remotebox_runner

package local

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/owndir"
)

// noProgram is a program whose runner is never started.
type noProgram struct{ driver.Program }

func (noProgram) Runner(context.Context, driver.Target) (string, error) { return os.Args[0], nil }

const roleVariable = "LOCAL_TEST_ROLE"

// TestMain makes a sandbox in another process and prints its id, when it is told to.
func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "" {
		os.Exit(m.Run())
	}
	sb, err := Start(context.Background(), Config{}, driver.Spec{Program: noProgram{}})
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString(sb.ID() + "\n")
	io.Copy(io.Discard, os.Stdin) // until it is killed
}

// other starts a process that owns a sandbox, below dir.
func other(t *testing.T, dir string) (id string, cmd *exec.Cmd) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=owner", "TMPDIR="+dir)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	r := bufio.NewScanner(out)
	if !r.Scan() {
		t.Fatal("it made no sandbox", r.Err())
	}
	return r.Text(), cmd
}

// old makes a sandbox look as if it had been made a while ago.
func old(t *testing.T, path string) {
	t.Helper()
	then := time.Now().Add(-2 * youngLimit)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}

func there(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// What a program that was killed has left is removed, and nothing that somebody owns, whatever its
// pid means here.
func TestSweep(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	base, err := owndir.Temp()
	if err != nil {
		t.Fatal(err)
	}
	deadID, dead := other(t, tmp)
	liveID, _ := other(t, tmp)
	dead.Process.Kill()
	dead.Wait()

	start := func() *Sandbox {
		sb, err := Start(t.Context(), Config{}, driver.Spec{Program: noProgram{}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { sb.Close(context.Background()) })
		return sb.(*Sandbox)
	}
	mine, paused, forgotten := start(), start(), start()
	for _, s := range []*Sandbox{paused, forgotten} {
		if err := s.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	then := time.Now().Add(-2 * pausedLimit)
	if err := os.Chtimes(filepath.Join(forgotten.dir, pausedFile), then, then); err != nil {
		t.Fatal(err)
	}
	// A program in a container, whose pid nobody has here.
	foreign := filepath.Join(base, "p4194305x"+liveID[len(liveID)-16:])
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	owned, err := own(foreign)
	if err != nil {
		t.Fatal(err)
	}
	defer owned.release()
	young := filepath.Join(base, "p4194305x"+deadID[len(deadID)-16:])
	if err := os.Mkdir(young, 0o700); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(base, deadID+"x") // no sandbox's name
	leftState := filepath.Join(base, "p4194306x"+deadID[len(deadID)-16:]+stateName)
	for _, dir := range []string{state, leftState} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{filepath.Join(base, deadID), filepath.Join(base, liveID), mine.dir, paused.dir, forgotten.dir, foreign, state, leftState} {
		old(t, path)
	}
	Sweep(base)
	for path, want := range map[string]bool{
		filepath.Join(base, deadID): false,
		filepath.Join(base, liveID): true,
		mine.dir:                    true,
		paused.dir:                  true,
		forgotten.dir:               false,
		foreign:                     true,
		young:                       true,
		state:                       true,
		leftState:                   false,
	} {
		if there(t, path) != want {
			t.Errorf("after a sweep %s is there: %t", path, !want)
		}
	}
	// A paused one that has been resumed is owned again.
	if err := paused.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	old(t, paused.dir)
	Sweep(base)
	if !there(t, paused.dir) {
		t.Error("a resumed sandbox was removed")
	}
	if _, err := Attach(t.Context(), Config{}, deadID, driver.Spec{Program: noProgram{}}); !errors.Is(err, driver.ErrSandboxGone) {
		t.Errorf("attaching to what was removed: %v", err)
	}
}
