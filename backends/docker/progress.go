//go:build !remotebox_runner

package docker

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"

	bk "github.com/moby/buildkit/client"
	"github.com/moby/buildkit/util/progress/progressui"
	"github.com/opencontainers/go-digest"
)

// keepLog is how much of a build's log an error keeps.
const keepLog = 16 << 10

// progress shows how a build goes on, and keeps the end of its log.
type progress struct {
	status chan *bk.SolveStatus // the builder's, which closes it
	done   sync.WaitGroup

	mu    sync.Mutex
	tail  []byte
	steps []digest.Digest // those that failed, in order
}

// watch shows a build's progress on log: a live display if that is a terminal, else line by line.
func watch(log io.Writer) *progress {
	p := &progress{status: make(chan *bk.SolveStatus)}
	var shown chan *bk.SolveStatus
	if log != nil && log != io.Discard {
		if d, err := progressui.NewDisplay(log, progressui.AutoMode); err == nil {
			shown = make(chan *bk.SolveStatus)
			p.done.Go(func() {
				// Warnings are part of what is shown.
				d.UpdateFrom(context.Background(), shown)
				for range shown {
				}
			})
		}
	}
	p.done.Go(func() {
		for s := range p.status {
			p.keep(s)
			if shown != nil {
				shown <- s
			}
		}
		if shown != nil {
			close(shown)
		}
	})
	return p
}

func (p *progress) keep(s *bk.SolveStatus) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, v := range s.Vertexes {
		if v.Error != "" {
			p.steps = append(p.steps, v.Digest)
		}
	}
	for _, l := range s.Logs {
		p.tail = append(p.tail, l.Data...)
	}
	if over := len(p.tail) - keepLog; over > 0 {
		p.tail = append(p.tail[:0], p.tail[over:]...)
	}
}

// wait returns when everything has been shown.
func (p *progress) wait() { p.done.Wait() }

// log is the end of what the build's steps printed.
func (p *progress) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.TrimSpace(string(p.tail))
}

// failed are the steps that have failed; some may have because of others.
func (p *progress) failed() []digest.Digest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.steps)
}
