//go:build !remotebox_runner

package e2btest

import (
	"net/http"
	"strings"
)

// team is the slug of the only team.
const team = "local-dev-team"

// templateName is [namespace/]alias[:tag], in lower case.
type templateName struct {
	namespace, alias, tag string // tag is "default" where none was given
	tagged                bool
}

const (
	aliasChars = "abcdefghijklmnopqrstuvwxyz0123456789-_"
	tagChars   = aliasChars + "."
)

func onlyOf(text, chars string) bool { return text != "" && strings.Trim(text, chars) == "" }

// parseTemplateName checks the characters; the problem is "" for a good name.
func parseTemplateName(text string) (n templateName, problem string) {
	text = strings.ToLower(strings.TrimSpace(text))
	rest := text
	if namespace, after, ok := strings.Cut(rest, "/"); ok {
		n.namespace, rest = namespace, after
		if !onlyOf(namespace, aliasChars) {
			return n, "invalid namespace: " + namespace
		}
	}
	n.alias, n.tag, n.tagged = strings.Cut(rest, ":")
	if !onlyOf(n.alias, aliasChars) {
		return n, "invalid template ID: " + n.alias
	}
	if !n.tagged {
		n.tag = "default"
	}
	return n, tagProblem(n.tag)
}

func tagProblem(tag string) string {
	if !onlyOf(tag, tagChars) {
		return "invalid tag: " + tag
	}
	if len(tag) == 36 && strings.Count(tag, "-") == 4 && onlyOf(strings.ReplaceAll(tag, "-", ""), "0123456789abcdef") {
		return "invalid tag '" + tag + "': tag cannot be a UUID"
	}
	return ""
}

// foreign says that a name is in the namespace of someone else.
func (n templateName) foreign() *apiError {
	if n.namespace == "" || n.namespace == team {
		return nil
	}
	return fail(http.StatusBadRequest, "namespace '%s' must match your team '%s'", n.namespace, team)
}

// find returns the template of that name, or nil; the caller holds s.mu.
func (n templateName) find(s *Server) *template {
	if n.namespace != "" && n.namespace != team {
		return nil
	}
	if t := s.templates[n.alias]; t != nil {
		return t
	}
	for _, t := range s.templates {
		for _, alias := range t.aliases {
			if alias == n.alias {
				return t
			}
		}
	}
	return nil
}
