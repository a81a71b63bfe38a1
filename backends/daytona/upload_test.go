package daytona_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/daytona/daytonatest"
	"github.com/remote-box/remote/driver"
)

// sent writes text to a file of the sandbox, or hands it to a command, from a reader. What is there
// then is all of text, or there is an error.
func sent(t *testing.T, sb driver.Sandbox, text string, r io.Reader, stdin bool) error {
	t.Helper()
	const path = "/tmp/sent"
	err := func() error {
		if !stdin {
			return sb.(driver.Files).WriteFile(t.Context(), path, r)
		}
		st, err := sb.Exec(t.Context(), &driver.Command{Args: []string{"sh", "-c", "cat >" + path}, Stdin: r})
		if err == nil && st.Code != 0 {
			err = fmt.Errorf("%+v", st)
		}
		return err
	}()
	if err != nil {
		return err
	}
	f, err := sb.(driver.Files).ReadFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := io.ReadAll(f); err != nil || string(got) != text {
		t.Errorf("%d of %d bytes have arrived without an error: %v", len(got), len(text), err)
	}
	return nil
}

// TestBrokenUpload lets transfers break whose source can't be read again, and whose can.
func TestBrokenUpload(t *testing.T) {
	srv, b := serve(t, daytonatest.Config{})
	sb := begun(t, b)
	small, large := strings.Repeat("small", 1000), strings.Repeat("0123456789abcdef", 20_000)
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString("skipped" + large); err != nil {
		t.Fatal(err)
	}
	for _, stdin := range []bool{false, true} {
		for name, f := range map[string]daytonatest.Fault{
			"before": {Status: 502},
			"after":  {Reset: daytonatest.After},
			"limit":  {Status: 429, RetryAfter: 1},
		} {
			for _, c := range []struct {
				what, text string
				r          io.Reader
				whole      bool // it arrives
			}{
				{"a small stream", small, iotest.HalfReader(bytes.NewBufferString(small)), true},
				{"a large text", large, strings.NewReader(large), true},
				{"a file from its middle on", large, file, true},
				{"a large stream", large, bytes.NewBufferString(large), false},
			} {
				if _, err := file.Seek(7, io.SeekStart); err != nil {
					t.Fatal(err)
				}
				f.Plane, f.Path = "toolbox", "/files/bulk-upload"
				in := srv.Inject(f)
				err := sent(t, sb, c.text, c.r, stdin)
				if c.whole && err != nil {
					t.Errorf("%s, stdin %v: %s: %v", name, stdin, c.what, err)
				}
				if name == "after" && !c.whole && err == nil {
					t.Errorf("%s, stdin %v: %s can be read twice", name, stdin, c.what)
				}
				if in.Struck() != 1 {
					t.Errorf("%s, stdin %v: %s: %d faults", name, stdin, c.what, in.Struck())
				}
				in.Remove()
			}
		}
	}
	in := srv.Inject(daytonatest.Fault{Plane: "toolbox", Path: "/files/bulk-upload", Times: -1, Status: 429, RetryAfter: 60})
	defer in.Remove()
	var limit *remote.LimitError
	if err := sent(t, sb, small, strings.NewReader(small), false); !errors.As(err, &limit) || in.Struck() != 1 {
		t.Errorf("a limit that lasts a minute: %v, %d tries", err, in.Struck())
	}
}

// TestStoppedUpload writes to a sandbox that was stopped, from a source that begins to speak when
// the first request has failed.
func TestStoppedUpload(t *testing.T) {
	srv, b := serve(t, daytonatest.Config{})
	sb := begun(t, b)
	if err := srv.StopSandbox(sb.ID()); err != nil {
		t.Fatal(err)
	}
	started := make(chan struct{})
	in := srv.Inject(daytonatest.Fault{Plane: "toolbox", Path: "/files/bulk-upload", Do: func() { close(started) }})
	defer in.Remove()
	text := strings.Repeat("some text", 1000)
	late := io.MultiReader(&gate{open: started}, bytes.NewBufferString(text))
	if err := sent(t, sb, text, late, false); err != nil {
		t.Error(err)
	}
}

// gate is an empty reader that ends when it is opened.
type gate struct {
	open <-chan struct{}
	seen func() // called by Read, once
}

func (g *gate) Read([]byte) (int, error) {
	if g.seen != nil {
		g.seen()
		g.seen = nil
	}
	<-g.open
	return 0, io.EOF
}

// TestBlockedUpload ends the context of a transfer whose source says nothing.
func TestBlockedUpload(t *testing.T) {
	_, b := serve(t, daytonatest.Config{})
	sb := begun(t, b)
	open := make(chan struct{})
	defer close(open)
	for name, write := range map[string]func(context.Context, io.Reader) error{
		"WriteFile": func(ctx context.Context, r io.Reader) error { return sb.(driver.Files).WriteFile(ctx, "/tmp/f", r) },
		"Exec": func(ctx context.Context, r io.Reader) error {
			_, err := sb.Exec(ctx, &driver.Command{Args: []string{"cat"}, Stdin: r})
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if err := write(ctx, &gate{open: open, seen: cancel}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
	failed := errors.New("the disk is gone")
	if err := sb.(driver.Files).WriteFile(t.Context(), "/tmp/f", iotest.ErrReader(failed)); !errors.Is(err, failed) {
		t.Errorf("a source that fails: %v", err)
	}
}
