//go:build !remotebox_runner

package daytonatest

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// mergeContext adds an uploaded tar to a build's context by the rules of the service's runner: of an entry only name, mode
// and content count; directories are skipped, so that empty ones are lost; links become empty files; a tar that breaks
// off is used as far as it goes.
func (s *Server) mergeContext(dir, hash string) error {
	object, err := s.bucket.open(hash + "/context.tar")
	if err != nil {
		return fmt.Errorf("failed to get tar from storage with hash %s: The specified key does not exist", hash)
	}
	defer object.Close()
	if info, err := object.Stat(); err == nil && info.Size() == 0 {
		return fmt.Errorf("failed to read tar from storage with hash %s: EOF", hash)
	}
	tr := tar.NewReader(object)
	for {
		h, err := tr.Next()
		if err != nil {
			return nil // the end, or what is taken for it
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		name := filepath.Join(dir, filepath.Clean("/"+h.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, tr)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		if err := errors.Join(err, f.Chmod(os.FileMode(h.Mode).Perm()), f.Close()); err != nil {
			return err
		}
	}
}
