//go:build !remotebox_runner

package envd

import (
	"net/http"
	"runtime"
	"time"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/jail"
)

// Metrics are envd's figures; here they are the whole host's.
type Metrics struct {
	Timestamp   int64   `json:"ts"`
	CPUCount    int     `json:"cpu_count"`
	CPUUsedPct  float64 `json:"cpu_used_pct"`
	MemTotal    uint64  `json:"mem_total"`
	MemUsed     uint64  `json:"mem_used"`
	MemCache    uint64  `json:"mem_cache"`
	MemTotalMiB uint64  `json:"mem_total_mib"`
	MemUsedMiB  uint64  `json:"mem_used_mib"`
	DiskUsed    uint64  `json:"disk_used"`
	DiskTotal   uint64  `json:"disk_total"`
}

// Measure takes the figures now.
func (s *Server) Measure() Metrics {
	m := Metrics{Timestamp: time.Now().Unix(), CPUCount: runtime.NumCPU()}
	m.MemUsed, m.MemTotal, m.MemCache = jail.Memory()
	m.MemTotalMiB, m.MemUsedMiB = m.MemTotal>>20, m.MemUsed>>20
	m.DiskUsed, m.DiskTotal = jail.Disk("/")
	return m
}

func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusOK, s.Measure())
}
