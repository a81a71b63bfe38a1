//go:build !remotebox_runner

package e2b

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/pause"
)

const (
	createTries = 3
	// findTries is how often a sandbox is looked for before its creation is sent again.
	findTries = 5
	// lateTime is how long somebody waits for a sandbox to turn up that is to be removed. One that
	// turns up later ends with its TTL.
	lateTime = 10 * time.Second
)

// creation is the making of one sandbox. Of a request whose answer is lost nobody knows whether the
// server is still at it: it is sent again all the same when nothing has turned up, and whatever turns
// up after that is removed. All that a creation has made is found by its request id.
type creation struct {
	c    *config
	body *newSandbox
	kept string // the sandbox that was chosen
	// owed counts the requests whose answers were lost and whose sandboxes have not turned up.
	owed int
	sent time.Time // when the last of them was given up
}

// make makes the sandbox. Once unwanted is closed, it does not begin anew.
func (m *creation) make(ctx context.Context, unwanted <-chan struct{}) (*sandboxAnswer, error) {
	for try := 0; ; try++ {
		a, err := m.c.create(ctx, m.body)
		if err == nil {
			m.kept = a.SandboxID
			return a, nil
		}
		if !doubtful(err) {
			return nil, err
		}
		if httpapi.Status(err) != http.StatusInternalServerError { // with that the server is through
			m.owed++
			m.sent = time.Now()
		}
		found, ferr := m.find(ctx)
		if ferr != nil {
			return nil, errors.Join(err, ferr)
		}
		if found != nil {
			return found, nil
		}
		select {
		case <-unwanted:
			return nil, err
		default:
		}
		if try == createTries-1 {
			return nil, err
		}
	}
}

// find finds what a request without an answer has made; nil if there is nothing yet.
func (m *creation) find(ctx context.Context) (*sandboxAnswer, error) {
	for try := range findTries {
		if !pause.For(ctx, httpapi.Backoff(try)) {
			break
		}
		list, err := m.list(ctx)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			continue
		}
		m.kept = list[0].SandboxID
		m.owed = max(0, m.owed-1)
		if err := m.removeOthers(ctx, list); err != nil {
			return nil, err
		}
		a, err := m.c.detail(ctx, m.kept) // it tells the token too
		if errors.Is(err, driver.ErrSandboxGone) {
			return nil, nil
		}
		return a, err
	}
	return nil, nil
}

func (m *creation) list(ctx context.Context) ([]sandboxAnswer, error) {
	return m.c.findByRequest(ctx, m.body.Metadata[requestKey])
}

// removeOthers kills what is not the sandbox that was chosen.
func (m *creation) removeOthers(ctx context.Context, list []sandboxAnswer) error {
	for _, other := range list {
		if other.SandboxID == m.kept {
			continue
		}
		if err := m.c.kill(ctx, other.SandboxID); err != nil {
			return err
		}
		m.owed = max(0, m.owed-1)
	}
	return nil
}

// watch removes what turns up until nothing is owed, the limit has passed since the last request was
// given up, or ctx has ended. Only one may watch at once.
func (m *creation) watch(ctx context.Context, limit time.Duration) error {
	var err error
	for try := 0; m.owed > 0; try++ {
		left := time.Until(m.sent.Add(limit))
		if left <= 0 || !pause.For(ctx, min(left, httpapi.Backoff(try))) {
			return err
		}
		var list []sandboxAnswer
		if list, err = m.list(ctx); err == nil {
			err = m.removeOthers(ctx, list)
		}
	}
	return nil
}

// remove removes a, if it is not nil, and all that turns up.
func (m *creation) remove(ctx context.Context, a *sandboxAnswer) error {
	var err error
	if a != nil {
		err = m.c.kill(ctx, a.SandboxID)
	}
	m.kept = ""
	return errors.Join(err, m.watch(ctx, lateTime))
}

// doubtful reports whether a failed creation may have made a sandbox.
func doubtful(err error) bool {
	if e, ok := errors.AsType[*httpapi.Error](err); ok {
		return e.Doubtful()
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
