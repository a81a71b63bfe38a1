package imagehash

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestHashingIsParallelAndBounded(t *testing.T) {
	const workers = 3
	var files []string
	for i := range 10 * workers {
		files = append(files, strconv.Itoa(i))
	}
	sys := realSystem()
	open := sys.open
	var now, tooMany atomic.Int64
	all := make(chan struct{})
	allHere := sync.OnceFunc(func() { close(all) })
	sys.open = func(name string) (fs.File, error) {
		switch n := now.Add(1); {
		case n == workers:
			allHere()
		case n > workers:
			tooMany.Store(n)
		}
		select {
		case <-all: // until as many are here as there may be
		case <-time.After(10 * time.Second):
			return nil, errors.New("waited for the other workers in vain")
		}
		f, err := open(name)
		return &closing{File: f, then: func() { now.Add(-1) }}, err
	}
	_, err := walk(t.Context(), lay(t, files...), Options{Workers: workers}, sys)
	check(t, err)
	if n := tooMany.Load(); n > 0 {
		t.Errorf("%d files were open at once, want at most %d", n, workers)
	}
}

type closing struct {
	fs.File
	then func()
}

func (c *closing) Close() error {
	c.then()
	return c.File.Close()
}

func TestCancel(t *testing.T) {
	root := lay(t, "a/b", "c", "d", "e/f/g")
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		sys := realSystem()
		sys.open = func(name string) (fs.File, error) {
			t.Errorf("opened %s", name)
			return nil, fs.ErrNotExist
		}
		wantCanceled(t, ctx, root, sys)
	})
	t.Run("while it walks", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		sys := realSystem()
		read := 0
		sys.readDir = func(name string) ([]fs.DirEntry, error) {
			if read++; read > 1 {
				t.Errorf("listed %s after the end", name)
			}
			cancel()
			return realSystem().readDir(name)
		}
		wantCanceled(t, ctx, root, sys)
	})
	t.Run("while it reads", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		sys := realSystem()
		open := sys.open
		var once sync.Once
		sys.open = func(name string) (fs.File, error) {
			f, err := open(name)
			return &endless{File: f, then: func() { once.Do(cancel) }}, err
		}
		wantCanceled(t, ctx, root, sys)
	})
}

// endless is a file without an end.
type endless struct {
	fs.File
	then func()
}

func (e *endless) Read(p []byte) (int, error) {
	e.then()
	return len(p), nil
}

func wantCanceled(t *testing.T, ctx context.Context, root string, sys system) {
	t.Helper()
	tree, err := walk(ctx, root, Options{Workers: 2}, sys)
	if tree != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v; want context.Canceled", tree, err)
	}
	if err != nil && !strings.Contains(err.Error(), root) {
		t.Errorf("%v does not name the context", err)
	}
}

func TestTreeIsSafeForConcurrentUse(t *testing.T) {
	tree := mustWalk(t, lay(t, "a", "b/c", "d -> a"), Options{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := tree.WriteTar(t.Context(), discard{}); err != nil {
				t.Error(err)
			}
			tree.Select(func(e Entry) bool { return e.Kind == File })
			tree.Summary()
			for range tree.Entries() {
				tree.Withheld()
			}
		})
	}
	wg.Wait()
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
