package docker_test

import (
	"testing"
	"time"

	"github.com/remote-box/remote/backends/backendtest"
	"github.com/remote-box/remote/backends/docker"
)

func TestConformance(t *testing.T) {
	c := engine(t)
	env := map[string]string{"SOME_VARIABLE": "some value\nin two lines"}
	backendtest.Run(t, func(testing.TB) backendtest.Config {
		return backendtest.Config{
			Backend:  docker.Backend{Env: env},
			Env:      env,
			Remove:   remove(c),
			Watchdog: 2 * time.Minute,
		}
	})
}
