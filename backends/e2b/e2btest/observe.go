//go:build !remotebox_runner

package e2btest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// metric is the schema SandboxMetric.
type metric struct {
	Timestamp     time.Time `json:"timestamp"`
	TimestampUnix int64     `json:"timestampUnix"`
	CPUCount      int       `json:"cpuCount"`
	CPUUsedPct    float64   `json:"cpuUsedPct"`
	MemUsed       uint64    `json:"memUsed"`
	MemTotal      uint64    `json:"memTotal"`
	MemCache      uint64    `json:"memCache"`
	DiskUsed      uint64    `json:"diskUsed"`
	DiskTotal     uint64    `json:"diskTotal"`
}

// measure takes one sample; the caller holds sb.mu.
func (sb *sandbox) measure() []metric {
	if sb.state != Running {
		return []metric{}
	}
	m := sb.machine.envd.Measure()
	return []metric{{
		Timestamp: time.Unix(m.Timestamp, 0).UTC(), TimestampUnix: m.Timestamp, CPUCount: sb.cpus, CPUUsedPct: m.CPUUsedPct,
		MemUsed: m.MemUsed, MemTotal: m.MemTotal, MemCache: m.MemCache, DiskUsed: m.DiskUsed, DiskTotal: m.DiskTotal,
	}}
}

func (s *Server) sandboxMetrics(r *http.Request) (answer, error) {
	sb, err := s.lookup(r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	sb.mu.Lock()
	defer sb.mu.Unlock()
	return answer{status: http.StatusOK, body: sb.measure()}, nil
}

func (s *Server) bulkMetrics(r *http.Request) (answer, error) {
	result := make(map[string]metric)
	for id := range strings.SplitSeq(r.URL.Query().Get("sandbox_ids"), ",") {
		sb, err := s.lookup(id)
		if err != nil {
			continue // those of others are left out
		}
		sb.mu.Lock()
		if samples := sb.measure(); len(samples) > 0 {
			result[id] = samples[0]
		}
		sb.mu.Unlock()
	}
	return answer{status: http.StatusOK, body: map[string]any{"sandboxes": result}}, nil
}

// logEntry is the schema SandboxLogEntry, and BuildLogEntry with its step.
type logEntry struct {
	Timestamp time.Time         `json:"timestamp"`
	Message   string            `json:"message"`
	Level     string            `json:"level"`
	Step      string            `json:"step,omitempty"`
	Fields    map[string]string `json:"fields,omitempty"`
}

// log notes an event of the sandbox's life; the caller holds sb.mu.
func (sb *sandbox) log(message string) {
	sb.logs = append(sb.logs, logEntry{
		Timestamp: time.Now().UTC(), Message: message, Level: "info", Fields: map[string]string{"logger": "orchestrator"},
	})
}

func (s *Server) sandboxLogs(r *http.Request) (answer, error) {
	limit, apiErr := queryInt(r.URL.Query(), "limit", 1000, 0, 1000)
	if apiErr != nil {
		return answer{}, apiErr
	}
	sb, err := s.lookup(r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	sb.mu.Lock()
	logs := slices.Clone(sb.logs)
	sb.mu.Unlock()
	return answer{status: http.StatusOK, body: map[string]any{"logs": pickLogs(r, logs, limit)}}, nil
}

// pickLogs applies the filters of the query.
func pickLogs(r *http.Request, logs []logEntry, limit int) []logEntry {
	query := r.URL.Query()
	levels := []string{"debug", "info", "warn", "error"}
	least := max(0, slices.Index(levels, query.Get("level")))
	picked := []logEntry{}
	for _, entry := range logs {
		if slices.Index(levels, entry.Level) >= least && strings.Contains(entry.Message, query.Get("search")) {
			picked = append(picked, entry)
		}
	}
	if query.Get("direction") == "backward" {
		slices.Reverse(picked)
	}
	return picked[:min(limit, len(picked))]
}
