package subprocess_test

import (
	"context"
	"strings"
	"testing"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/subprocess"
)

// echo only has to be there.
func echo(_ context.Context, n int) (int, error) { return n, nil }

var unreached = remote.New(echo, remote.Name("unreached"))

// TestCheck checks that what is wrong with a value is said by its field.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		b    subprocess.Backend
		want string
	}{
		{subprocess.Backend{Dir: "relative"}, `subprocess.Backend.Dir: "relative" is not an absolute path`},
		{subprocess.Backend{Dir: "/does/not/exist"}, `subprocess.Backend.Dir: "/does/not/exist" is not a directory`},
		{subprocess.Backend{Env: map[string]string{"A=B": ""}}, `subprocess.Backend.Env: "A=B"`},
		{subprocess.Backend{Env: map[string]string{"TOKEN": "a\x00b"}}, "subprocess.Backend.Env: the value of TOKEN has a NUL byte"},
		{subprocess.Backend{Env: map[string]string{"REMOTE_BOX_RUNNER": "x"}}, "subprocess.Backend.Env: REMOTE_BOX_RUNNER is one of"},
	} {
		_, err := unreached.Call(remote.WithBackend(t.Context(), c.b), 1)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.b, err)
		}
	}
}
