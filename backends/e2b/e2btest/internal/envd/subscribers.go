//go:build !remotebox_runner

package envd

import (
	"sync"

	processpb "github.com/remote-box/remote/backends/e2b/internal/envdpb/process"
)

// subscriber is one client that listens to a process.
type subscriber struct {
	events chan *processpb.ProcessEvent
	gone   chan struct{}
}

// subscribers hands the events of a process to everyone who listens at that
// moment. There is no buffer: without a subscriber events are lost, and a slow
// one holds back the process and all the others, as in envd.
type subscribers struct {
	mu      sync.Mutex
	list    []*subscriber
	end     *processpb.ProcessEvent // after the last event
	closing <-chan struct{}
}

// subscribe adds a subscriber. After the end it returns the end instead.
func (s *subscribers) subscribe() (*subscriber, *processpb.ProcessEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		return nil, s.end
	}
	sub := &subscriber{events: make(chan *processpb.ProcessEvent), gone: make(chan struct{})}
	s.list = append(s.list, sub)
	return sub, nil
}

// leave removes sub, which frees a publish that waits for it.
func (s *subscribers) leave(sub *subscriber) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.list {
		if other == sub {
			s.list = append(s.list[:i:i], s.list[i+1:]...)
			close(sub.gone)
			return
		}
	}
}

// ended says whether the last event has been published.
func (s *subscribers) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end != nil
}

func (s *subscribers) publish(event *processpb.ProcessEvent) {
	s.mu.Lock()
	list := s.list
	s.mu.Unlock()
	s.send(list, event)
}

// finish publishes the last event.
func (s *subscribers) finish(end *processpb.ProcessEvent) {
	s.mu.Lock()
	s.end = end
	list := s.list
	s.mu.Unlock()
	s.send(list, end)
}

func (s *subscribers) send(list []*subscriber, event *processpb.ProcessEvent) {
	for _, sub := range list {
		select {
		case sub.events <- event:
		case <-sub.gone:
		case <-s.closing:
			return
		}
	}
}
