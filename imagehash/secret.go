package imagehash

import "strings"

// SecretPatterns returns, in the syntax of .dockerignore, what is left out unless a "!" line asks for it by name. A
// pattern that names a directory covers what is below. Case does not count. Changing the list changes digests.
//
// A .npmrc is not among them: that of a project is configuration that its build needs, and tokens belong in the user's.
func SecretPatterns() []string {
	return []string{
		// Environment files.
		"**/.env",
		"**/.env.*",
		"**/.envrc",

		// Private keys, and containers of them.
		"**/.gnupg",
		"**/.ssh",
		"**/id_dsa",
		"**/id_ecdsa",
		"**/id_ecdsa_sk",
		"**/id_ed25519",
		"**/id_ed25519_sk",
		"**/id_rsa",
		"**/*.jks",
		"**/*.key",
		"**/*.keystore",
		"**/*.p12",
		"**/*.p8",
		"**/*.pem",
		"**/*.pfx",
		"**/*.ppk",

		// Credentials of clouds, registries, clusters and sandboxes.
		"**/.aws/cli",
		"**/.aws/credentials",
		"**/.aws/sso",
		"**/.azure/accesstokens.json",
		"**/.azure/msal_token_cache.bin",
		"**/.azure/msal_token_cache.json",
		"**/.azure/service_principal_entries.json",
		"**/.boto",
		"**/.config/daytona",
		"**/.config/e2b",
		"**/.config/gcloud",
		"**/.config/gh/hosts.yml",
		"**/.docker/config.json",
		"**/.dockercfg",
		"**/.git-credentials",
		"**/.kube/config",
		"**/.netrc",
		"**/.pgpass",
		"**/.pypirc",
		"**/.s3cfg",
		"**/.terraform.d/credentials.tfrc.json",
		"**/.vault-token",
		"**/_netrc",
		"**/application_default_credentials.json",
	}
}

// secretNames is SecretPatterns, arranged so that a path is looked up instead of matched fifty times.
type secretNames struct {
	names    map[string]bool // the last element
	suffixes map[string]bool // the last element's end, from its last dot on
	prefixes []string        // the last element's beginning
	tails    []string        // the end of "/"+path
}

func newSecretNames() secretNames {
	s := secretNames{names: map[string]bool{}, suffixes: map[string]bool{}}
	for _, p := range SecretPatterns() {
		p = strings.TrimPrefix(p, "**/")
		switch {
		case strings.Contains(p, "/"):
			s.tails = append(s.tails, "/"+p)
		case strings.HasPrefix(p, "*"):
			s.suffixes[p[1:]] = true
		case strings.HasSuffix(p, "*"):
			s.prefixes = append(s.prefixes, p[:len(p)-1])
		default:
			s.names[p] = true
		}
	}
	return s
}

// match reports whether rel, whose last element is name, is a secret by itself: what is below one is the caller's business.
func (s secretNames) match(rel, name string) bool {
	name = strings.ToLower(name)
	if s.names[name] {
		return true
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 && s.suffixes[name[i:]] {
		return true
	}
	for _, p := range s.prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	for _, t := range s.tails {
		// A tail is at most as long as "/"+rel, and ends in name.
		if strings.HasSuffix(t, "/"+name) && strings.HasSuffix("/"+strings.ToLower(rel), t) {
			return true
		}
	}
	return false
}
