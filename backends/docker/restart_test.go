package docker_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/docker"
)

// A call goes on while the engine is restarted, where the engine lets containers do that.
func TestEngineRestart(t *testing.T) {
	if os.Getuid() != 0 {
		missing(t, "starting an engine takes root", os.ErrPermission)
	}
	if _, err := exec.LookPath("dockerd"); err != nil {
		if _, err := os.Stat("/usr/sbin/dockerd"); err != nil {
			missing(t, "no dockerd", err)
		}
	}
	dir, err := os.MkdirTemp("/tmp", "rbd") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	dockerd := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("../../.ci/dockerd", args...)
		cmd.Env = append(os.Environ(), "REMOTE_BOX_DOCKERD_DIR="+dir, "REMOTE_BOX_LIVE_RESTORE=1")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	said := dockerd()
	t.Cleanup(func() { dockerd("stop") })
	_, rest, _ := strings.Cut(said, "DOCKER_HOST=")
	host, _, _ := strings.Cut(rest, " ")

	s := remote.NewSession(docker.Backend{Host: host}, remote.Concurrency(2))
	t.Cleanup(func() {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	ctx := s.Context(t.Context())
	l := begin(t, ctx)
	dockerd("stop")
	dockerd()
	greet(t, ctx)
	l.end(t, ctx)
}
