//go:build !remotebox_runner

package dockerfile

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// variable is a name and its value.
type variable struct{ name, value string }

// variables are variables in the order in which they were set.
type variables []variable

// set returns v with one more, or another value for one.
func (v variables) set(name, value string) variables {
	kept := make(variables, 0, len(v)+1)
	for _, old := range v {
		if old.name != name {
			kept = append(kept, old)
		}
	}
	return append(kept, variable{name, value})
}

// Get implements shell.EnvGetter.
func (v variables) Get(name string) (string, bool) {
	for _, have := range v {
		if have.name == name {
			return have.value, true
		}
	}
	return "", false
}

// Keys implements shell.EnvGetter.
func (v variables) Keys() []string {
	var keys []string
	for _, have := range v {
		keys = append(keys, have.name)
	}
	return keys
}

// platformArgs are the arguments that BuildKit knows without a value from anybody.
func platformArgs() variables {
	var v variables
	for _, side := range []string{"TARGET", "BUILD"} {
		v = append(v, variable{side + "PLATFORM", "linux/amd64"}, variable{side + "OS", "linux"}, variable{side + "ARCH", "amd64"}, variable{side + "VARIANT", ""})
	}
	return v
}

// globals are the variables of FROM.
func (t *translator) globals() variables {
	v := platformArgs()
	for _, a := range t.global {
		v = v.set(a.name, a.value)
	}
	return v
}

// known are the variables of the instructions after FROM: what ENV says wins over what ARG says.
func (t *translator) known() variables {
	var v variables
	for _, a := range append(append(variables{}, t.args...), t.env...) {
		v = v.set(a.name, a.value)
	}
	return v
}

// expand substitutes variables and takes quotes away. A variable that the Dockerfile does not set
// is one of the base image, if at all.
func (t *translator) expand(word string, v variables) (string, error) {
	out, unset, err := t.lex.ProcessWord(word, v)
	if err != nil {
		return "", err
	}
	if name, ok := t.missing(unset); ok && t.staged {
		return "", t.fail("$%s is not set in this Dockerfile; if it comes from the base image, write its value out: E2B does not tell it", name)
	}
	if strings.Contains(out, open) {
		return "", t.fail("%s depends on a variable of the base image; write its value out: E2B does not tell it", word)
	}
	return out, nil
}

// missing finds a variable among those that were not set when a word was expanded which the base image
// may set: no argument without a value, and none of a shell's own, such as $1.
func (t *translator) missing(unset map[string]struct{}) (name string, ok bool) {
	for _, name := range slices.Sorted(maps.Keys(unset)) {
		if validVariable(name) && !t.declared[name] {
			return name, true
		}
	}
	return "", false
}

// arg declares arguments. They are variables of the instructions and commands that follow, but not
// of the image.
func (t *translator) arg(args []string) error {
	if len(args) == 0 {
		return t.fail("ARG takes a name")
	}
	for _, a := range args {
		name, raw, given := strings.Cut(a, "=")
		if !validVariable(name) {
			return t.fail("ARG %q is no name of a variable", name)
		}
		scope := t.globals()
		if t.staged {
			scope = t.known()
		}
		value, ok := "", given
		if given {
			var err error
			if value, err = t.expand(raw, scope); err != nil {
				return err
			}
		} else if t.staged {
			value, ok = t.globals().Get(name)
		}
		switch {
		case !ok:
			// Without a value it is not set, but known to be.
			t.declared[name] = true
		case t.staged:
			t.args = t.args.set(name, value)
		default:
			t.global = t.global.set(name, value)
		}
	}
	return nil
}

func validVariable(name string) bool {
	return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`).MatchString(name)
}

// setEnv sets variables of the image. E2B's builder expands variables in values by the shell of
// root, without those that the steps before have set, so that everything known is written out here.
func (t *translator) setEnv(args []string) error {
	if len(args) == 0 || len(args)%3 != 0 {
		return t.fail("ENV takes names with values")
	}
	scope := t.known()
	var out []string
	for i := 0; i < len(args); i += 3 {
		name, raw := args[i], args[i+1]
		if !validVariable(name) {
			return t.fail("ENV %q is no name of a variable", name)
		}
		value, err := t.expandOpen(raw, scope)
		if err != nil {
			return err
		}
		out = append(out, name, forBuilder(value))
		t.env = t.env.set(name, value)
	}
	t.step("ENV", out...)
	return nil
}
