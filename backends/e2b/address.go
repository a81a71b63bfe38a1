//go:build !remotebox_runner

package e2b

import (
	"fmt"
	"net/url"
	"strings"
)

// checkURL holds an address to what requests can be sent to. Its error names the field, which may have
// its value from a variable, and what to write.
func checkURL(field, variable, value string) error {
	if value == "" {
		return nil
	}
	u, err := url.Parse(value)
	switch {
	case !strings.Contains(value, "://"):
		return fmt.Errorf("e2b.Backend.%s (or %s) is %q, without a scheme; write %q or %q", field, variable, value, "https://"+value, "http://"+value)
	case err != nil:
		return fmt.Errorf("e2b.Backend.%s (or %s) is %q, which is no URL; write one such as \"https://host:port\"", field, variable, value)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("e2b.Backend.%s (or %s) is %q; write \"http://\" or \"https://\", a host, and at most a port and a path", field, variable, value)
	}
	return nil
}

// checkDomain holds a domain to what names can be made of.
func checkDomain(domain string) error {
	if strings.ContainsAny(domain, "/@?# \t\r\n") {
		return fmt.Errorf("e2b.Backend.Domain (or E2B_DOMAIN) is %q, which is no domain; write one such as \"e2b.app\", and addresses into APIURL and SandboxURL", domain)
	}
	return nil
}
