//go:build !remotebox_runner

package e2btest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Sandbox is what a server knows of one of its sandboxes.
type Sandbox struct {
	ID         string
	TemplateID string
	State      State
	Metadata   map[string]string
	StartedAt  time.Time
	EndAt      time.Time
}

func (sb *sandbox) public() Sandbox {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	return Sandbox{
		ID: sb.id, TemplateID: sb.templateID, State: sb.shown(), Metadata: maps.Clone(sb.spec.Metadata),
		StartedAt: sb.startedAt, EndAt: sb.endAt,
	}
}

// Sandboxes returns those that live, running and paused, the oldest first.
func (s *Server) Sandboxes() []Sandbox {
	s.mu.Lock()
	boxes := s.all()
	s.mu.Unlock()
	list := make([]Sandbox, 0, len(boxes))
	for _, sb := range boxes {
		if box := sb.public(); box.State != killed && !box.StartedAt.IsZero() {
			list = append(list, box)
		}
	}
	slices.SortFunc(list, func(a, b Sandbox) int {
		if c := a.StartedAt.Compare(b.StartedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list
}

// KillSandbox kills a sandbox as if someone else had.
func (s *Server) KillSandbox(id string) error {
	sb, err := s.lookup(id)
	if err != nil {
		return err
	}
	if !sb.destroy() {
		return sandboxNotFound(id)
	}
	return nil
}

// PauseSandbox pauses a sandbox, with its memory, as if someone else had.
func (s *Server) PauseSandbox(id string) error {
	sb, err := s.lookup(id)
	if err != nil {
		return err
	}
	return sb.pause(true)
}

// ExpireSandbox ends a sandbox's lifetime now: it is killed, or paused when it
// was created so.
func (s *Server) ExpireSandbox(id string) error {
	sb, err := s.lookup(id)
	if err != nil {
		return err
	}
	sb.mu.Lock()
	state, end := sb.settled(), sb.endAt
	sb.mu.Unlock()
	if state != Running {
		return sandboxNotFound(id)
	}
	sb.expire(end)
	return nil
}

// lookup finds a sandbox by its id, or the old form of it with a client id.
func (s *Server) lookup(id string) (*sandbox, error) {
	short, _, _ := strings.Cut(id, "-")
	if len(short) != 21 || short[0] != 'i' || strings.Trim(short, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return nil, fail(http.StatusBadRequest, "Invalid sandbox ID")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if sb := s.sandboxes[short]; sb != nil {
		return sb, nil
	}
	return nil, sandboxNotFound(id)
}
