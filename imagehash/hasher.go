package imagehash

import (
	"context"
	"crypto/sha256"
	"io/fs"
	"sync"
)

// readSize is how much of a file is read at once.
const readSize = 256 << 10

// job is a file to hash: its entry, to be completed, and what the walk saw of it.
type job struct {
	entry *Entry
	seen  fs.FileInfo
}

// hashers are the goroutines that hash the files of one walk. Whoever starts them calls wait.
type hashers struct {
	jobs chan job
	done sync.WaitGroup

	mu       sync.Mutex
	failures map[string]error // by path
}

func startHashers(ctx context.Context, at place, n int, sys system) *hashers {
	h := &hashers{
		jobs:     make(chan job, 64*n), // the walk is ahead by that much at most
		failures: map[string]error{},
	}
	for range n {
		h.done.Go(func() {
			hasher := fileHasher{place: at, sys: sys, buf: make([]byte, readSize), hash: sha256.New()}
			for j := range h.jobs {
				sum, err := hasher.sum(ctx, j)
				if err != nil {
					h.fail(j.entry.Path, err)
					continue
				}
				j.entry.Sum = sum
			}
		})
	}
	return h
}

// add waits until the hashers can take the file, which is not for long once their ctx has ended.
func (h *hashers) add(j job) { h.jobs <- j }

func (h *hashers) fail(rel string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures[rel] = err
}

// wait ends the hashers when they have hashed all that was added, and returns what failed.
func (h *hashers) wait() map[string]error {
	close(h.jobs)
	h.done.Wait()
	return h.failures
}
