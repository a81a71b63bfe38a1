//go:build !remotebox_runner

package e2btest

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// copyScript moves what was unpacked to its place. Of a directory the content is
// merged into the destination: by tar, so that directories that are there keep
// what they are, and symlinks to directories are followed. A file is renamed to
// it, or put into it when the destination ends with a slash. Directories that are
// made for either are root's (E2B infra, commands/copy_script).
const copyScript = `set -eu
stage=$1 source=$2 dest=$3 owner=$4 mode=$5
mkdir -p "$stage/unpack"
tar -xz --no-same-owner -f "$stage/archive.tgz" -C "$stage/unpack"
from="$stage/unpack/$source"
if [ -d "$from" ] && [ ! -L "$from" ]; then
  mkdir -p "$dest"
  if [ -n "$mode" ]; then find "$from" -mindepth 1 ! -type l -exec chmod "$mode" {} +; fi
  if [ -n "$owner" ]; then find "$from" -mindepth 1 -exec chown -h "$owner" {} +; fi
  tar -C "$from" -cf "$stage/tree" .
  tar -C "$dest" --keep-directory-symlink --no-overwrite-dir -xpf "$stage/tree"
else
  case $dest in */) mkdir -p "$dest" ;; *) mkdir -p "$(dirname "$dest")" ;; esac
  if [ -n "$mode" ] && [ ! -L "$from" ]; then chmod "$mode" "$from"; fi
  if [ -n "$owner" ]; then chown -h "$owner" "$from"; fi
  mv -f "$from" "$dest"
fi
rm -rf "$stage"
`

func (w *worker) copy(ctx context.Context, source, dest, owner, mode, hash string) error {
	if hash == "" {
		return fmt.Errorf("failed to copy files: files hash is required for %s", source)
	}
	archive, err := os.Open(w.build.server.storage.path(hash))
	if err != nil {
		return fmt.Errorf("failed to copy files: no files for hash %s were uploaded", hash)
	}
	defer archive.Close()
	stage := "/tmp/" + hash
	if !w.machine.jail.Confined() {
		stage = filepath.Join(w.image.layers[0], "root/tmp", hash)
	}
	if err := w.machine.envd.WriteFile(stage+"/archive.tgz", archive); err != nil {
		return fmt.Errorf("failed to copy files: %w", err)
	}
	target := dest
	if !path.IsAbs(target) && w.image.workdir != "" {
		target = path.Join(w.image.workdir, target)
	}
	if target, err = w.machine.envd.Resolve(target, w.image.user); err == nil {
		err = w.allowed(target)
	}
	if err != nil {
		return fmt.Errorf("failed to copy files: %w", err)
	}
	if strings.HasSuffix(dest, "/") && target != "/" || dest == "." || strings.HasSuffix(dest, "/.") {
		target += "/"
	}
	if owner == "" {
		owner = w.image.user
	}
	if !strings.Contains(owner, ":") {
		owner += ":" + owner
	}
	if !w.machine.jail.Confined() {
		owner = ""
	}
	var quoted []string
	for _, arg := range []string{stage, withoutGlob(source), target, owner, mode} {
		quoted = append(quoted, "'"+strings.ReplaceAll(arg, "'", `'\''`)+"'")
	}
	var output strings.Builder
	status, err := w.machine.envd.Run(ctx, "root", "/", "bash -c '"+strings.ReplaceAll(copyScript, "'", `'\''`)+"' copy "+strings.Join(quoted, " "), nil, func(_ bool, text []byte) {
		output.Write(text)
	})
	if err == nil && status != "" {
		err = fmt.Errorf("%s: %s", status, strings.TrimSpace(output.String()))
	}
	if err != nil {
		return fmt.Errorf("failed to copy files: %w", err)
	}
	return nil
}

// withoutGlob cuts a source off before its first path element with a pattern.
func withoutGlob(source string) string {
	var kept []string
	for element := range strings.SplitSeq(source, "/") {
		if strings.ContainsAny(element, "*?[{") {
			break
		}
		kept = append(kept, element)
	}
	return strings.Join(kept, "/")
}
