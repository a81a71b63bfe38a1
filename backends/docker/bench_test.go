package docker_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/docker"
	"github.com/remote-box/remote/backends/docker/internal/testfuncs"
	"github.com/remote-box/remote/backends/subprocess"
)

// BenchmarkCall compares a call with its limits: `docker exec` of the same program, which a call in
// a session is to be ten times as fast as, and the same call in a process of this host.
//
//	go test -bench Call -run '^$' -count 5 .
func BenchmarkCall(b *testing.B) {
	c := engine(b)
	call := func(b *testing.B, ctx context.Context) {
		out, err := testfuncs.Greet.Call(ctx, testfuncs.Greeting{Text: "World"})
		if err != nil || out.Text != "Hello World!" {
			b.Fatal(out, err)
		}
	}
	inSession := func(b *testing.B, backend remote.Backend) (context.Context, string) {
		s := remote.NewSession(backend)
		b.Cleanup(func() { s.Close(context.Background()) })
		ctx := s.Context(b.Context())
		call(b, ctx)
		ref, err := s.Ref()
		if err != nil {
			b.Fatal(err)
		}
		return ctx, ref.Sandbox
	}
	b.Run("docker-exec", func(b *testing.B) {
		_, id := inSession(b, docker.Backend{})
		for b.Loop() {
			if err := dockerExec(b.Context(), c, id); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, session := range []struct {
		name    string
		backend remote.Backend
	}{{"session", docker.Backend{}}, {"subprocess-session", subprocess.Backend{}}} {
		b.Run(session.name, func(b *testing.B) {
			ctx, _ := inSession(b, session.backend)
			for b.Loop() {
				call(b, ctx)
			}
		})
	}
	b.Run("session-large-result", func(b *testing.B) {
		ctx, _ := inSession(b, docker.Backend{})
		b.SetBytes(1 << 20)
		for b.Loop() {
			if s, err := testfuncs.Fill.Call(ctx, 1<<20); err != nil || len(s) != 1<<20 {
				b.Fatal(len(s), err)
			}
		}
	})
	b.Run("fresh", func(b *testing.B) {
		ctx := remote.WithBackend(b.Context(), docker.Backend{})
		for b.Loop() {
			call(b, ctx)
		}
	})
}

// dockerExec runs the program in the container by the engine's exec, as `docker exec` does, as far
// as its main function.
func dockerExec(ctx context.Context, c *client.Client, id string) error {
	created, err := c.ExecCreate(ctx, id, client.ExecCreateOptions{
		AttachStdout: true, AttachStderr: true, Cmd: []string{"/remote-box-runner"}, Env: []string{"REMOTE_BOX_RUNNER="},
	})
	if err != nil {
		return err
	}
	attached, err := c.ExecAttach(ctx, created.ID, client.ExecAttachOptions{})
	if err != nil {
		return err
	}
	defer attached.Close()
	if _, err := stdcopy.StdCopy(io.Discard, io.Discard, attached.Reader); err != nil {
		return err
	}
	r, err := c.ExecInspect(ctx, created.ID, client.ExecInspectOptions{})
	if err == nil && r.ExitCode != 2 {
		err = errors.New("the runner should have said that it is none")
	}
	return err
}
