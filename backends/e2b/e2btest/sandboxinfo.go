//go:build !remotebox_runner

package e2btest

import (
	"net/http"
	"time"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/envd"
)

// listedSandbox is the schema ListedSandbox.
type listedSandbox struct {
	TemplateID   string            `json:"templateID"`
	Alias        string            `json:"alias,omitempty"`
	SandboxID    string            `json:"sandboxID"`
	ClientID     string            `json:"clientID"`
	StartedAt    time.Time         `json:"startedAt"`
	EndAt        time.Time         `json:"endAt"`
	CPUCount     int               `json:"cpuCount"`
	MemoryMB     int               `json:"memoryMB"`
	DiskSizeMB   int               `json:"diskSizeMB"`
	Metadata     map[string]string `json:"metadata,omitempty"`
	State        State             `json:"state"`
	EnvdVersion  string            `json:"envdVersion"`
	VolumeMounts []volumeMount     `json:"volumeMounts,omitempty"`
}

// sandboxDetail is the schema SandboxDetail.
type sandboxDetail struct {
	listedSandbox
	AccessToken string         `json:"envdAccessToken,omitempty"`
	Internet    *bool          `json:"allowInternetAccess,omitempty"`
	Network     *networkConfig `json:"network,omitempty"`
	Lifecycle   lifecycle      `json:"lifecycle"`
}

type lifecycle struct {
	AutoResume bool   `json:"autoResume"`
	OnTimeout  string `json:"onTimeout"`
}

const diskSizeMB = 10240

// listed describes the sandbox; the caller holds sb.mu.
func (sb *sandbox) listed() listedSandbox {
	return listedSandbox{
		TemplateID: sb.templateID, Alias: sb.alias, SandboxID: sb.id, ClientID: clientID,
		StartedAt: sb.startedAt, EndAt: sb.endAt, CPUCount: sb.cpus, MemoryMB: sb.memory, DiskSizeMB: diskSizeMB,
		Metadata: sb.spec.Metadata, State: sb.shown(), EnvdVersion: envd.Version, VolumeMounts: sb.spec.VolumeMounts,
	}
}

func (s *Server) getSandbox(r *http.Request) (answer, error) {
	sb, err := s.lookup(r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	sb.mu.Lock()
	defer sb.mu.Unlock()
	if sb.state == killed || sb.state == creating {
		return answer{}, sandboxNotFound(sb.id)
	}
	detail := sandboxDetail{listedSandbox: sb.listed(), AccessToken: sb.accessToken, Internet: sb.spec.Internet}
	detail.Lifecycle = lifecycle{AutoResume: sb.spec.AutoResume != nil && sb.spec.AutoResume.Enabled, OnTimeout: "kill"}
	if sb.spec.AutoPause {
		detail.Lifecycle.OnTimeout = "pause"
	}
	if sb.spec.Network != nil {
		network := sb.network
		detail.Network = &network
	}
	return answer{status: http.StatusOK, body: detail}, nil
}
