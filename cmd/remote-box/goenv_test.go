package main

import (
	"os/exec"
	"strings"
	"testing"
)

// goEnv is a setting of the go command outside the scripts, whose home is another one.
func goEnv(t *testing.T, name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatalf("go env %s: %v", name, err)
	}
	return strings.TrimSpace(string(out))
}
