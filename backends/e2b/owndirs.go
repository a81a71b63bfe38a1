//go:build !remotebox_runner

package e2b

import (
	"path"
	"strings"

	"github.com/remote-box/remote/backends/e2b/internal/dockerfile"
)

// ownDirs is a step before a COPY with --chown, or nil if it needs none. It makes the directories that
// the destination lacks, which in Docker are the named user's: E2B's builder would make them root's
// (E2B infra, commands/copy_script).
func (s *planStep) ownDirs() *planStep {
	dir, owner := s.Args[1], s.Copy.Owner
	if !strings.HasSuffix(dir, "/") {
		dir = path.Dir(dir)
	}
	if dir = path.Clean(dir); dir == "/" || owner == "root:root" {
		return nil
	}
	const script = `make() { [ -d "$1" ] || { make "$(dirname "$1")" "$2" && mkdir "$1" && chown "$2" "$1"; }; }; make "$1" "$2"`
	return &planStep{Step: dockerfile.Step{
		Type: "RUN", Line: s.Line, Text: "making the directories of " + s.Text,
		Args: []string{dockerfile.Command("/bin/sh", "-c", script, "sh", dir, owner), "root"},
	}}
}
