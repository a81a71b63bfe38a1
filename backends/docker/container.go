//go:build !remotebox_runner

package docker

import (
	"context"
	"errors"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/rand"
)

// Labels of containers and images. Those of a driver.Spec get the prefix "remote-box.".
const (
	label      = "remote-box"
	labelImage = "remote-box.image"
	labelOnce  = "remote-box.once"
)

const idPrefix = "remote-box-"

// newID names a container.
func newID() string { return idPrefix + rand.Text(16) }

func validID(id string) bool {
	rest, ok := strings.CutPrefix(id, idPrefix)
	return ok && len(rest) == 16 && strings.Trim(rest, rand.Alphabet) == ""
}

// How long the engine may take to make or start a container, and to remove one; and how long a
// caller that has given up waits for that.
const (
	createTime = time.Minute
	removeTime = 30 * time.Second
	giveUpTime = 10 * time.Second
)

// create makes a container and starts it. When ctx ends meanwhile, what has been made is removed.
func (b Backend) create(ctx context.Context, e *engine, image string, spec driver.Spec) (*sandbox, error) {
	s := &sandbox{engine: e, id: newID(), image: image, once: spec.Once}
	done := make(chan error, 1)
	go func() { done <- b.createAll(ctx, s, spec) }()
	select {
	case err := <-done:
		return s, err
	case <-ctx.Done():
	}
	t := time.NewTimer(giveUpTime)
	defer t.Stop()
	select {
	case err := <-done:
		if err == nil {
			s.discard(ctx) // it was ready at the last moment
		}
	case <-t.C: // an engine that hangs; what it still makes is removed when it has
	}
	return nil, ctx.Err()
}

// createAll does so, but for the waiting. An engine goes on with a request whose client has gone
// away, so that this one stays until it knows what there is to remove.
func (b Backend) createAll(ctx context.Context, s *sandbox, spec driver.Spec) error {
	slow, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTime)
	defer cancel()
	_, err := s.engine.ContainerCreate(slow, b.options(s.id, s.image, spec))
	if err == nil && ctx.Err() == nil {
		err = s.start(slow)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		return nil
	}
	return errors.Join(err, s.discard(ctx))
}

// discard removes the container, also when ctx has ended.
func (s *sandbox) discard(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTime)
	defer cancel()
	return s.remove(ctx)
}

// options describes the container of one sandbox.
func (b Backend) options(id, image string, spec driver.Spec) client.ContainerCreateOptions {
	labels := map[string]string{label: "1", labelImage: image}
	for k, v := range spec.Labels {
		if k != label {
			labels[label+"."+k] = v
		}
	}
	if spec.Once {
		labels[labelOnce] = "1"
	}
	env := []string{callproc.EnvMode + "=" + callproc.ModeInit}
	for _, name := range slices.Sorted(maps.Keys(b.Env)) {
		env = append(env, name+"="+b.Env[name])
	}
	_, platform, _ := b.target()
	return client.ContainerCreateOptions{
		Name: id, Platform: platform,
		Config: &container.Config{
			Image: image, User: b.User, Labels: labels, Env: env,
			Entrypoint: []string{runnerPath},
			// The engine closes stdin when its client goes away, which is how the runner knows.
			OpenStdin: true, StdinOnce: true,
			AttachStdin: true, AttachStdout: true, AttachStderr: true,
			StopSignal:  "SIGTERM",
			Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		},
		HostConfig: b.hostConfig(),
	}
}

func (b Backend) hostConfig() *container.HostConfig {
	c := &container.HostConfig{
		// What the streams carry is for this program, not for the engine's disk.
		LogConfig:      container.LogConfig{Type: "none"},
		NetworkMode:    container.NetworkMode(b.Network),
		ReadonlyRootfs: b.ReadOnlyRoot,
		Runtime:        b.Runtime,
		Init:           new(bool), // the runner is the first process
		Resources: container.Resources{
			NanoCPUs: int64(b.CPUs * 1e9),
			Memory:   b.MemoryMB << 20, MemorySwap: b.MemoryMB << 20,
		},
	}
	if b.PIDs > 0 {
		c.PidsLimit = &b.PIDs
	}
	for _, m := range b.Mounts {
		kind := mount.TypeVolume
		if path.IsAbs(m.Source) || filepath.IsAbs(m.Source) {
			kind = mount.TypeBind
		}
		c.Mounts = append(c.Mounts, mount.Mount{Type: kind, Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly})
	}
	if b.ReadOnlyRoot {
		c.Tmpfs = b.tmpfs()
	}
	return c
}

// tmpfs are the directories that stay writable below a read-only root.
func (b Backend) tmpfs() map[string]string {
	writable := []string{"/tmp"}
	if b.Dockerfile == "" {
		writable = append(writable, homeDir, workDir)
	}
	t := map[string]string{}
	for _, dir := range writable {
		mounted := slices.ContainsFunc(b.Mounts, func(m Mount) bool { return path.Clean(m.Target) == dir })
		if !mounted {
			t[dir] = "rw,exec,mode=1777"
		}
	}
	return t
}
