//go:build !remotebox_runner

package e2btest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// statusAnswer is the schema TemplateBuildInfo.
type statusAnswer struct {
	TemplateID string       `json:"templateID"`
	BuildID    string       `json:"buildID"`
	Status     buildStatus  `json:"status"`
	Logs       []string     `json:"logs"`
	LogEntries []logEntry   `json:"logEntries"`
	Reason     *buildReason `json:"reason,omitempty"`
}

// buildStatus answers with the logs from an offset on, at most 100.
func (s *Server) buildStatus(r *http.Request) (answer, error) {
	offset, apiErr := queryInt(r.URL.Query(), "logsOffset", 0, 0, 1<<30)
	if apiErr != nil {
		return answer{}, apiErr
	}
	limit, apiErr := queryInt(r.URL.Query(), "limit", 100, 0, 100)
	if apiErr != nil {
		return answer{}, apiErr
	}
	return s.withBuild(r, func(b *build) (answer, error) {
		a := statusAnswer{TemplateID: b.template.id, BuildID: b.id, Status: b.status, Reason: b.reason, Logs: []string{}, LogEntries: []logEntry{}}
		if offset < len(b.logs) {
			a.LogEntries = pickLogs(r, b.logs[offset:], limit)
		}
		for _, entry := range a.LogEntries {
			a.Logs = append(a.Logs, "["+entry.Timestamp.Format(time.RFC3339)+"] "+entry.Message+"\n")
		}
		return answer{status: http.StatusOK, body: a}, nil
	})
}

func (s *Server) buildLogs(r *http.Request) (answer, error) {
	limit, apiErr := queryInt(r.URL.Query(), "limit", 100, 0, 100)
	if apiErr != nil {
		return answer{}, apiErr
	}
	return s.withBuild(r, func(b *build) (answer, error) {
		return answer{status: http.StatusOK, body: map[string]any{"logs": pickLogs(r, slices.Clone(b.logs), limit)}}, nil
	})
}

func (s *Server) withBuild(r *http.Request, f func(*build) (answer, error)) (answer, error) {
	id := r.PathValue("build")
	return s.withTemplate(r.PathValue("id"), func(t *template) (answer, error) {
		if b := t.find(id); b != nil {
			return f(b)
		}
		return answer{}, fail(http.StatusBadRequest, "Build '%s' not found", id)
	})
}

// String is the step as the log shows it.
func (s buildStep) String() string { return s.Type + " [" + strings.Join(s.Args, " ") + "]" }
