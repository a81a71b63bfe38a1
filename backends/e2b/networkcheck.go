//go:build !remotebox_runner

package e2b

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// E2B's limits on rules (E2B API, sandbox create).
const (
	maxRules       = 10
	maxRuleDomain  = 128
	maxRuleHeaders = 20
	maxHeaderName  = 64
	maxHeaderValue = 2048
)

// tokenChars are what a header's name is made of (RFC 9110, 5.6.2).
const tokenChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"

// check holds n to the server's rules, so that a mistake is found before anything is sent. No error
// shows a value.
func (n Network) check() error {
	for _, target := range n.DenyOut {
		if !isAddress(target) {
			return fmt.Errorf("e2b.Backend.Network.DenyOut: %q is no address or CIDR block; domains can be allowed only", target)
		}
	}
	for _, target := range n.AllowOut {
		if isAddress(target) {
			continue
		}
		if target == "" || strings.ContainsAny(target, " /:@") {
			return fmt.Errorf("e2b.Backend.Network.AllowOut: %q is no address, CIDR block or domain", target)
		}
		if !slices.Contains(n.DenyOut, AllTraffic) {
			return fmt.Errorf("e2b.Backend.Network.AllowOut: the domain %q can be allowed only where all else is denied; add e2b.AllTraffic to DenyOut", target)
		}
	}
	if len(n.Rules) > maxRules {
		return fmt.Errorf("e2b.Backend.Network.Rules: there are %d, E2B takes %d", len(n.Rules), maxRules)
	}
	for _, domain := range slices.Sorted(maps.Keys(n.Rules)) {
		if err := n.Rules[domain].check(domain); err != nil {
			return fmt.Errorf("e2b.Backend.Network.Rules[%q]: %w", domain, err)
		}
	}
	return nil
}

func (r Rule) check(domain string) error {
	if domain == "" || len(domain) > maxRuleDomain {
		return fmt.Errorf("a domain has 1 to %d characters", maxRuleDomain)
	}
	if len(r.Headers) == 0 {
		return errors.New("it does nothing; use e2b.InjectHeaders")
	}
	if len(r.Headers) > maxRuleHeaders {
		return fmt.Errorf("it has %d headers, E2B takes %d", len(r.Headers), maxRuleHeaders)
	}
	for _, header := range slices.Sorted(maps.Keys(r.Headers)) {
		value := string(r.Headers[header])
		switch {
		case len(header) > maxHeaderName:
			return fmt.Errorf("the name %.20q… is longer than %d characters", header, maxHeaderName)
		case header == "" || strings.Trim(header, tokenChars) != "":
			return fmt.Errorf("%q is no name of a header", header)
		case len(value) > maxHeaderValue:
			return fmt.Errorf("the value of %s has %d characters, E2B takes %d", header, len(value), maxHeaderValue)
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return fmt.Errorf("the value of %s is none that a header can have", header)
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

// wireNetwork is the schema SandboxNetworkConfig.
type wireNetwork struct {
	AllowPublicTraffic bool                  `json:"allowPublicTraffic"`
	AllowOut           []string              `json:"allowOut,omitempty"`
	DenyOut            []string              `json:"denyOut,omitempty"`
	Rules              map[string][]wireRule `json:"rules,omitempty"`
}

type wireRule struct {
	Transform struct {
		Headers map[string]string `json:"headers"`
	} `json:"transform"`
}

func (c *config) network() *wireNetwork {
	w := &wireNetwork{AllowPublicTraffic: c.AllowPublicTraffic, AllowOut: c.Network.AllowOut, DenyOut: c.Network.DenyOut}
	for domain, rule := range c.Network.Rules {
		if w.Rules == nil {
			w.Rules = map[string][]wireRule{}
		}
		var out wireRule
		out.Transform.Headers = make(map[string]string, len(rule.Headers))
		for k, v := range rule.Headers {
			out.Transform.Headers[k] = string(v)
		}
		w.Rules[domain] = []wireRule{out}
	}
	return w
}
