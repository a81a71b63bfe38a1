//go:build !remotebox_runner

package e2btest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/envd"
	"github.com/remote-box/remote/backends/e2b/e2btest/internal/jail"
)

// machine is the running part of a sandbox or a build: processes and an envd.
type machine struct {
	jail *jail.Jail
	envd *envd.Server

	mu       sync.Mutex
	streams  context.Context // ends when clients are cut off
	sever    context.CancelFunc
	handlers sync.WaitGroup
}

func (s *Server) startMachine(dir, id string, layers []string, cfg envd.Config) (*machine, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	j, err := jail.New(jail.Config{
		ID: id, Dir: dir, Base: s.path("base"), Layers: layers,
		PrivateNetwork: s.cfg.PrivateNetwork, Unconfined: s.cfg.Unconfined,
	})
	if err != nil {
		return nil, err
	}
	cfg.Jail = j
	m := &machine{jail: j, envd: envd.New(cfg)}
	m.reconnect()
	return m, nil
}

// mark leaves the files by which programs know where they are.
func (m *machine) mark(sb *sandbox) (err error) {
	if !m.jail.Confined() {
		return nil
	}
	doErr := m.jail.Do(func() {
		if err = os.MkdirAll("/run/e2b", 0o755); err != nil {
			return
		}
		for name, text := range map[string]string{".E2B_SANDBOX": "true", ".E2B_SANDBOX_ID": sb.id, ".E2B_TEMPLATE_ID": sb.templateID} {
			if err = os.WriteFile("/run/e2b/"+name, []byte(text), 0o644); err != nil {
				return
			}
		}
	})
	if doErr != nil {
		return doErr
	}
	return err
}

// reconnect lets clients in again after cut.
func (m *machine) reconnect() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.streams, m.sever = context.WithCancel(context.Background())
}

// cut resets every connection to the machine. On the wire pausing, killing and
// expiry look the same (E2B's proxies).
func (m *machine) cut() {
	m.mu.Lock()
	sever := m.sever
	m.mu.Unlock()
	sever()
	m.handlers.Wait()
}

// stop ends all processes and waits for them. It follows cut, unless no client
// was ever let in.
func (m *machine) stop() {
	m.envd.Interrupt()
	m.jail.Close()
	m.envd.Wait()
}

// enter gives a request its time with the machine; the caller holds the lock of
// the sandbox, whose state says that clients are let in.
func (m *machine) enter() context.Context {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.handlers.Add(1)
	return m.streams
}

// serve handles a request until the machine is cut off. The caller has entered.
func (m *machine) serve(streams context.Context, w http.ResponseWriter, r *http.Request, h http.Handler) {
	defer m.handlers.Done()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	controller := http.NewResponseController(w)
	stop := context.AfterFunc(streams, func() {
		cancel()
		// Frees a handler that waits for its client.
		controller.SetReadDeadline(time.Unix(1, 0))
		controller.SetWriteDeadline(time.Unix(1, 0))
	})
	defer stop()
	out := &severedWriter{ResponseWriter: w, streams: streams, request: r}
	h.ServeHTTP(out, r.WithContext(ctx))
	out.check()
}

// severedWriter resets the connection where the handler would write the end of a
// stream that is to have none.
type severedWriter struct {
	http.ResponseWriter
	streams context.Context
	request *http.Request
}

func (w *severedWriter) check() {
	if w.streams.Err() != nil {
		abort(w.request)
	}
}

func (w *severedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *severedWriter) Write(p []byte) (int, error) {
	w.check()
	return w.ResponseWriter.Write(p)
}

func (w *severedWriter) Flush() { http.NewResponseController(w.ResponseWriter).Flush() }

// startCommand starts what the template starts. Where that was running in the
// template's snapshot it runs here from the first request on, so this waits
// until it is ready.
func (i *image) startCommand(ctx context.Context, m *machine) error {
	if i.startCmd == "" {
		return nil
	}
	if err := m.envd.Spawn(i.user, i.workdir, i.startCmd, i.env); err != nil {
		return fmt.Errorf("start command: %w", err)
	}
	if strings.HasPrefix(i.readyCmd, "sleep ") {
		return nil // nothing to be seen by asking
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		status, err := m.envd.Run(ctx, i.user, i.workdir, i.readyCmd, i.env, nil)
		if err != nil {
			return fmt.Errorf("ready command: %w", err)
		}
		if status == "" {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("ready command: %s", status)
		}
	}
}
