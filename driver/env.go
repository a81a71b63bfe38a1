package driver

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ours are the variables by which runners and their processes are told what to do.
var ours = []string{
	"REMOTE_BOX_CALL", "REMOTE_BOX_CALL_ID", "REMOTE_BOX_HOST", "REMOTE_BOX_INPUT", "REMOTE_BOX_NONCE", "REMOTE_BOX_QUERY", "REMOTE_BOX_REPORT",
	"REMOTE_BOX_REQUEST", "REMOTE_BOX_RUNNER", "REMOTE_BOX_SANDBOX", "REMOTE_BOX_SHARED", "REMOTE_BOX_STATE",
}

// CheckEnv makes sure that the variables of a backend value can be given to every process of its
// sandboxes. field is the field's name for the error, such as "docker.Backend.Env". Values are not
// in the error: they may be secrets.
func CheckEnv(field string, env map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			return fmt.Errorf("%s: %q is not the name of a variable", field, name)
		case strings.Contains(env[name], "\x00"):
			return fmt.Errorf("%s: the value of %s has a NUL byte, which no process can be given; encode it, for example in base64", field, name)
		case slices.Contains(ours, name):
			return fmt.Errorf("%s: %s is one of the variables by which runners are told what to do; choose another name", field, name)
		}
	}
	return nil
}
