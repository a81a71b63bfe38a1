//go:build !remotebox_runner

package dockerfile

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// open stands before and after the name of a variable in a value that depends on one which only
// E2B's builder can know: PATH, most of the time. Translate lets no Dockerfile with the character in.
const open = "\x00"

// openVariables are variables of which those that are not set stay open.
type openVariables struct {
	variables
	closed map[string]bool // names that count as not set
	opened map[string]bool
}

// Get implements shell.EnvGetter.
func (o *openVariables) Get(name string) (string, bool) {
	if v, ok := o.variables.Get(name); ok {
		return v, true
	}
	if o.closed[name] || !validVariable(name) {
		return "", false
	}
	o.opened[name] = true
	return open + name + open, true
}

// modified finds variables whose form depends on whether they are set, such as ${X:-y}. PATH always is.
func modified(word string) map[string]bool {
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)[^A-Za-z0-9_}]`).FindAllStringSubmatch(word, -1) {
		names[m[1]] = m[1] != "PATH"
	}
	return names
}

// cutPath finds a form that takes a part of PATH, such as ${PATH%:*}.
var cutPath = regexp.MustCompile(`\$\{PATH[#%/]`)

// expandOpen is expand for a value that E2B's builder will expand once more.
func (t *translator) expandOpen(word string, v variables) (string, error) {
	if cutPath.MatchString(word) {
		return "", t.fail("%s takes a part of PATH, which is not known before the build; write the value out", word)
	}
	o := &openVariables{variables: v, closed: modified(word), opened: map[string]bool{}}
	for name := range t.declared {
		o.closed[name] = true
	}
	value, unset, err := t.lex.ProcessWord(word, o)
	if err != nil {
		return "", err
	}
	if name, ok := t.missing(unset); ok {
		t.warn("$%s is not set in this Dockerfile and counts as empty, even if the base image sets it", name)
	}
	for _, name := range slices.Sorted(maps.Keys(o.opened)) {
		if name == "PATH" {
			t.warn("$PATH is that of root's login shell: if the base image sets another (golang's has /usr/local/go/bin), write it out")
			continue
		}
		t.warn("$%s is not set in this Dockerfile: it is what root's shell has, even if the base image sets it", name)
	}
	return value, nil
}

// forBuilder writes a value so that E2B's builder, which puts it between the double quotes of a
// shell, takes everything for what it is: it escapes all but $ by itself (E2B infra, commands/env.go).
func forBuilder(value string) string {
	var b strings.Builder
	for i, part := range strings.Split(value, open) {
		if i%2 == 1 {
			b.WriteString("${" + part + "}")
			continue
		}
		b.WriteString(strings.ReplaceAll(part, "$", dollar))
	}
	return b.String()
}

// dollar is a dollar sign in a value: nobody sets the variable.
const dollar = "${__remote_box_unset:-$}"
