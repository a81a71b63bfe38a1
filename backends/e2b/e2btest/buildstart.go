//go:build !remotebox_runner

package e2btest

import (
	"context"
	"net/http"
	"time"
)

// buildRequest is the schema TemplateBuildStartV2.
type buildRequest struct {
	FromImage    string      `json:"fromImage"`
	FromTemplate string      `json:"fromTemplate"`
	Steps        []buildStep `json:"steps"`
	StartCmd     string      `json:"startCmd"`
	ReadyCmd     string      `json:"readyCmd"`
}

// startBuild runs a build in the background.
func (s *Server) startBuild(r *http.Request) (answer, error) {
	var request buildRequest
	sc := schema{name: "TemplateBuildStartV2", properties: []property{
		{name: "fromImage", kind: "string"},
		{name: "fromTemplate", kind: "string"},
		{name: "fromImageRegistry", kind: "object"},
		{name: "force", kind: "boolean"},
		{name: "steps", kind: "array"},
		{name: "startCmd", kind: "string"},
		{name: "readyCmd", kind: "string"},
	}}
	if err := sc.decode(r, &request); err != nil {
		return answer{}, err
	}
	id := r.PathValue("build")
	if len(id) != 36 {
		return answer{}, fail(http.StatusBadRequest, "Invalid build ID: %s", id)
	}
	return s.withTemplate(r.PathValue("id"), func(t *template) (answer, error) {
		b := t.find(id)
		switch {
		case b == nil:
			return answer{}, fail(http.StatusNotFound, "Build '%s' not found", id)
		case b.status != statusWaiting:
			return answer{}, fail(http.StatusBadRequest, "build is not in waiting state")
		case (request.FromImage == "") == (request.FromTemplate == ""):
			return answer{}, fail(http.StatusBadRequest, "exactly one of fromImage and fromTemplate must be given")
		case s.closed:
			return answer{}, fail(http.StatusServiceUnavailable, "Error when getting available build client")
		}
		for _, other := range t.builds {
			other.stop()
		}
		b.status = statusBuilding
		var ctx context.Context
		ctx, b.cancel = context.WithTimeout(s.ctx, time.Hour)
		s.work.Add(1)
		go func() {
			defer s.work.Done()
			b.run(ctx, request)
		}()
		return answer{status: http.StatusAccepted}, nil
	})
}
