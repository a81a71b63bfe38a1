package e2b

// AllTraffic as an element of Network.DenyOut denies everything that AllowOut does not allow.
const AllTraffic = "0.0.0.0/0"

// Network says what a sandbox may reach.
type Network struct {
	// AllowOut lists addresses, CIDR blocks and, if DenyOut holds AllTraffic, domains ("example.com",
	// "*.example.com") that may be reached.
	AllowOut []string
	// DenyOut lists addresses and CIDR blocks that may not.
	DenyOut []string
	// Rules change requests on their way out, by domain: see InjectHeaders. At most 10.
	Rules map[string]Rule
}

// Rule changes the requests to a domain.
type Rule struct {
	// Headers are set on every request, outside of the sandbox: its programs never see them.
	Headers map[string]Secret
}

// InjectHeaders makes a rule that sets headers, such as an API's key that functions can use but not
// read. The values are secrets: nothing prints them, and no template depends on them.
func InjectHeaders(headers map[string]string) Rule {
	r := Rule{Headers: make(map[string]Secret, len(headers))}
	for name, value := range headers {
		r.Headers[name] = Secret(value)
	}
	return r
}
