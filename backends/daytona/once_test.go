package daytona_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/daytona"
	"github.com/remote-box/remote/backends/daytona/daytonatest"
	"github.com/remote-box/remote/backends/daytona/internal/testfunc"
)

// toolbox sends a request to a sandbox's toolbox as any client might, with a Content-Length.
func toolbox(t *testing.T, srv *daytonatest.Server, method, id, path string, body any) string {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, srv.ToolboxURL()+"/"+id+path, strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+srv.Key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %s %v", method, path, resp.StatusCode, answer, err)
	}
	return string(answer)
}

// TestAtMostOnce lets the provider's proxy replay what it can, and then does so in its place.
func TestAtMostOnce(t *testing.T) {
	srv, b := serve(t, daytonatest.Config{ReplayingProxy: true})
	for name, b := range map[string]daytona.Backend{"loop": b, "direct": daytona.Direct(b)} {
		t.Run(name, func(t *testing.T) {
			s := remote.NewSession(b)
			defer s.Close(context.WithoutCancel(t.Context()))
			ctx := s.Context(t.Context())
			if err := s.Start(ctx); err != nil {
				t.Fatal(err)
			}
			ref, err := s.Ref()
			if err != nil {
				t.Fatal(err)
			}
			id := ref.Sandbox

			// The trap is there: a request of known length is carried out twice.
			in := srv.Inject(daytonatest.Fault{Plane: "toolbox", Path: "/process/execute", Upstream: daytonatest.After})
			toolbox(t, srv, "POST", id, "/process/execute", map[string]string{"command": "printf x >>/tmp/control"})
			in.Remove()
			if got, err := testfunc.Shell.Call(ctx, "cat /tmp/control"); err != nil || got != "xx" {
				t.Fatalf("the proxy does not replay: %q, %v", got, err)
			}

			// A call does not step into it.
			in = srv.Inject(daytonatest.Fault{Plane: "toolbox", Method: "POST", Upstream: daytonatest.After})
			if n, err := testfunc.Count.Call(ctx, "call"); err != nil || n != 1 {
				t.Errorf("a call ran %d times: %v", n, err)
			}
			if in.Struck() != 1 {
				t.Errorf("the fault has struck %d times", in.Struck())
			}
			in.Remove()

			// And if its request arrives again nevertheless, the runner refuses it.
			var sessions []struct {
				SessionID string `json:"sessionId"`
				Commands  []struct {
					ID      string `json:"id"`
					Command string `json:"command"`
				} `json:"commands"`
			}
			if err := json.Unmarshal([]byte(toolbox(t, srv, "GET", id, "/process/session", nil)), &sessions); err != nil {
				t.Fatal(err)
			}
			again := 0
			for _, session := range sessions {
				for _, c := range session.Commands {
					if name == "direct" && strings.Contains(c.Command, "REMOTE_BOX_REQUEST") && strings.Contains(c.Command, "Count") {
						// In its session, whose shell knows it, and in another one, whose shell does not.
						toolbox(t, srv, "POST", id, "/process/session/"+session.SessionID+"/exec", map[string]any{"command": c.Command})
						toolbox(t, srv, "POST", id, "/process/session", map[string]any{"sessionId": "other"})
						answer := toolbox(t, srv, "POST", id, "/process/session/other/exec", map[string]any{"command": c.Command})
						if !strings.Contains(answer, "~rb1") {
							t.Errorf("the runner was not asked: %s", answer)
						}
						again++
					}
				}
			}
			if name == "direct" && again == 0 {
				t.Errorf("the call's command was not found among %+v", sessions)
			}
			if n, err := testfunc.Runs.Call(ctx, "call"); err != nil || n != 1 {
				t.Errorf("the call ran %d times: %v", n, err)
			}
		})
	}
}
