//go:build !remotebox_runner

package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/remote-box/remote/driver"
)

// engine is a connection to a Docker Engine.
type engine struct {
	*client.Client
	host string // its address, for messages
}

// hostVariable names the engine where Backend.Host does not.
const hostVariable = "DOCKER_HOST"

// connect finds the engine and agrees with it on a version of its API.
func (b Backend) connect(ctx context.Context) (*engine, error) {
	host, opts := b.host()
	if strings.HasPrefix(host, "ssh:") {
		return nil, fmt.Errorf("docker: %s: the engine can't be reached over SSH; forward its socket (ssh -L /tmp/docker.sock:/var/run/docker.sock HOST) and name that", host)
	}
	c, err := client.New(append(opts, client.WithAPIVersionFromEnv())...)
	if err != nil {
		return nil, fmt.Errorf("docker: %s: %w", host, err)
	}
	e := &engine{c, host}
	if _, err := c.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true}); err != nil {
		e.close()
		return nil, e.explain(err)
	}
	return e, nil
}

func (e *engine) close() { e.Client.Close() }

// host is where the engine is, and how to get there.
func (b Backend) host() (string, []client.Opt) {
	if b.Host != "" {
		return b.Host, []client.Opt{client.WithHost(b.Host)}
	}
	if host := os.Getenv(hostVariable); host != "" {
		return host, []client.Opt{client.WithTLSClientConfigFromEnv(), client.WithHost(host)}
	}
	if runtime.GOOS == "windows" {
		return client.DefaultDockerHost, nil
	}
	home, _ := os.UserHomeDir()
	for _, socket := range []string{
		strings.TrimPrefix(client.DefaultDockerHost, "unix://"),
		filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "docker.sock"), // rootless
		filepath.Join(home, ".docker", "run", "docker.sock"),       // Docker Desktop
		filepath.Join(home, ".docker", "desktop", "docker.sock"),
		filepath.Join(home, ".colima", "default", "docker.sock"),
	} {
		if info, err := os.Stat(socket); err == nil && info.Mode().Type() == fs.ModeSocket && filepath.IsAbs(socket) {
			return "unix://" + socket, []client.Opt{client.WithHost("unix://" + socket)}
		}
	}
	return client.DefaultDockerHost, []client.Opt{client.WithHost(client.DefaultDockerHost)}
}

// explained is an error that says which engine it is about.
type explained struct {
	text string
	err  error
}

func (e *explained) Error() string { return e.text + ": " + e.err.Error() }
func (e *explained) Unwrap() error { return e.err }

// explain says which engine an error is about, and what to do if it is not there. It may be given
// an error that it has explained already.
func (e *engine) explain(err error) error {
	if _, done := errors.AsType[*explained](err); done {
		return err
	}
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, driver.ErrSandboxGone):
		return err
	case errors.Is(err, syscall.EACCES), client.IsErrConnectionFailed(err) && e.forbidden():
		return &explained{fmt.Sprintf("docker: this user may not use the engine at %s: join the group that owns its socket (sudo usermod -aG docker $USER, then log in again), or run a rootless engine", e.host), err}
	case client.IsErrConnectionFailed(err), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return &explained{fmt.Sprintf("docker: no engine answers at %s: start it (sudo systemctl start docker, or Docker Desktop), or name another with the field Host or the variable %s", e.host, hostVariable), err}
	}
	return &explained{"docker: the engine at " + e.host, err}
}

// forbidden reports whether this user may not use the engine's socket. The client does not keep the
// error that says so.
func (e *engine) forbidden() bool {
	path, ok := strings.CutPrefix(e.host, "unix://")
	if !ok {
		return false
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		return errors.Is(err, fs.ErrPermission)
	}
	conn.Close()
	return false
}

// inspect describes a container. One that does not exist, or is about to be removed, is
// ErrSandboxGone.
func (e *engine) inspect(ctx context.Context, id string) (*container.InspectResponse, error) {
	r, err := e.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if errdefs.IsNotFound(err) {
		return nil, fmt.Errorf("%w: there is no container %s", driver.ErrSandboxGone, id)
	}
	if err != nil {
		return nil, e.explain(err)
	}
	c := r.Container
	if c.State == nil || c.State.Dead || c.State.Status == container.StateRemoving {
		return nil, fmt.Errorf("%w: the container %s is being removed", driver.ErrSandboxGone, id)
	}
	return &c, nil
}

// lacks reports whether the engine does not have an image.
func (e *engine) lacks(ctx context.Context, image string) bool {
	_, err := e.ImageInspect(ctx, image)
	return errdefs.IsNotFound(err)
}

// pull fetches a pinned image, as `docker run` would, but without credentials.
func (e *engine) pull(ctx context.Context, name string, platform ocispecs.Platform) error {
	r, err := e.ImagePull(ctx, name, client.ImagePullOptions{Platforms: []ocispecs.Platform{platform}})
	if err == nil {
		err = r.Wait(ctx)
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("docker: the engine at %s does not have the image %s and could not fetch it (try docker pull %[2]s): %w", e.host, name, err)
	}
	return err
}
