//go:build !remotebox_runner

package e2btest

import (
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strings"
)

// networkConfig is checked and shown, but not applied.
type networkConfig struct {
	AllowPublicTraffic *bool                    `json:"allowPublicTraffic,omitempty"`
	AllowOut           []string                 `json:"allowOut,omitempty"`
	DenyOut            []string                 `json:"denyOut,omitempty"`
	EgressProxy        *egressProxy             `json:"egressProxy,omitempty"`
	MaskRequestHost    string                   `json:"maskRequestHost,omitempty"`
	Rules              map[string][]networkRule `json:"rules,omitempty"`
	HTTPSPorts         []int                    `json:"httpsPorts,omitempty"`
}

type egressProxy struct {
	Address string `json:"address"`
}

type networkRule struct {
	Transform *struct {
		Headers map[string]string `json:"headers,omitempty"`
	} `json:"transform,omitempty"`
}

// check holds a creation against the rules that go beyond the schema.
func (n newSandbox) check() *apiError {
	switch {
	case n.AutoPauseMemory != nil && !*n.AutoPauseMemory && !n.AutoPause:
		return fail(http.StatusBadRequest, "autoPauseMemory can only be set when autoPause is enabled")
	case n.AutoPauseMemory != nil && !*n.AutoPauseMemory && n.AutoResume != nil && n.AutoResume.Enabled:
		return fail(http.StatusBadRequest, "autoResume can't be used with autoPauseMemory set to false")
	}
	for _, mount := range n.VolumeMounts {
		if !path.IsAbs(mount.Path) || path.Clean(mount.Path) != mount.Path {
			return fail(http.StatusBadRequest, "volume mount path '%s' must be absolute and clean", mount.Path)
		}
	}
	if n.Network == nil {
		return nil
	}
	if public := n.Network.AllowPublicTraffic; public != nil && !*public && !n.Secure {
		return fail(http.StatusBadRequest, "You cannot disable public traffic without a secured sandbox")
	}
	return n.Network.check()
}

func (n networkConfig) check() *apiError {
	if n.EgressProxy != nil {
		return fail(http.StatusForbidden, "egress proxy is not enabled for your team")
	}
	for _, target := range n.DenyOut {
		if !isAddress(target) {
			return fail(http.StatusBadRequest, "invalid denied CIDR or IP: %s", target)
		}
	}
	for _, target := range n.AllowOut {
		if !isAddress(target) && !slices.Contains(n.DenyOut, "0.0.0.0/0") {
			return fail(http.StatusBadRequest, "When specifying allowed domains in allow out, you must include 'ALL_TRAFFIC' in deny out to block all other traffic.")
		}
	}
	if len(n.Rules) > 10 {
		return fail(http.StatusBadRequest, "network rules: at most 10 domains are allowed")
	}
	for domain, rules := range n.Rules {
		switch {
		case len(domain) > 128:
			return fail(http.StatusBadRequest, "network rules: domain is longer than 128 characters")
		case len(rules) > 1:
			return fail(http.StatusBadRequest, "network rules: only one transform is allowed for '%s'", domain)
		case len(rules) == 0 || rules[0].Transform == nil:
			continue
		case len(rules[0].Transform.Headers) > 20:
			return fail(http.StatusBadRequest, "network rules: at most 20 headers are allowed for '%s'", domain)
		}
		for name, value := range rules[0].Transform.Headers {
			if len(name) > 64 || len(value) > 2048 {
				return fail(http.StatusBadRequest, "network rules: a header of '%s' is too long", domain)
			}
		}
	}
	return nil
}

func isAddress(target string) bool {
	if strings.Contains(target, "/") {
		_, err := netip.ParsePrefix(target)
		return err == nil
	}
	_, err := netip.ParseAddr(target)
	return err == nil
}

// updateNetwork replaces the rules; fields that are left out are cleared.
func (s *Server) updateNetwork(r *http.Request) (answer, error) {
	var request struct {
		networkConfig
		Internet *bool `json:"allow_internet_access"`
	}
	sc := schema{name: "SandboxNetworkUpdateConfig", properties: []property{
		{name: "allowOut", kind: "array"}, {name: "denyOut", kind: "array"}, {name: "rules", kind: "object"}, {name: "allow_internet_access", kind: "boolean"},
	}}
	if err := sc.decode(r, &request); err != nil {
		return answer{}, err
	}
	sb, err := s.lookup(r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	if err := request.check(); err != nil {
		return answer{}, err
	}
	sb.mu.Lock()
	defer sb.mu.Unlock()
	if sb.state != Running {
		return answer{}, sandboxNotFound(sb.id)
	}
	old := sb.network
	sb.network = request.networkConfig
	sb.network.AllowPublicTraffic, sb.network.MaskRequestHost, sb.network.HTTPSPorts = old.AllowPublicTraffic, old.MaskRequestHost, old.HTTPSPorts
	sb.spec.Internet = request.Internet
	return answer{status: http.StatusNoContent}, nil
}
