//go:build !remotebox_runner

package daytonatest

import (
	"fmt"
	"slices"
	"time"
)

// provision takes a new snapshot from pending to active or error.
func (s *Server) provision(sn *snapshot) {
	img, err := s.obtain(sn)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.set(sn, "error", err.Error())
		return
	}
	sn.img, sn.entrypoint = img, img.entrypoint
	s.set(sn, "active", "")
}

func (s *Server) obtain(sn *snapshot) (*image, error) {
	if err := s.sleep(s.cfg.Times.SnapshotPending); err != nil {
		return nil, err
	}
	if sn.build == nil {
		s.mu.Lock()
		s.set(sn, "pulling", "")
		s.mu.Unlock()
		if err := s.sleep(s.cfg.Times.SnapshotBuild); err != nil {
			return nil, err
		}
		if err := s.pull(sn.imageName); err != nil {
			return nil, err
		}
		return &image{ref: sn.imageName, entrypoint: sn.entrypoint}, nil
	}
	s.mu.Lock()
	img := s.images[sn.build.ref]
	if img == nil {
		sn.build.log = &logBuffer{}
		s.set(sn, "building", "")
	}
	s.mu.Unlock()
	if img != nil {
		return img, nil // the same content under another name
	}
	return s.runBuild(sn.build)
}

// runBuild builds, once, and keeps the image by its reference. The log of a failed build is never ended: following
// it goes on for ever, as at the service.
func (s *Server) runBuild(b *buildInfo) (*image, error) {
	start := time.Now()
	img, err := s.buildImage(s.ctx, b)
	if err != nil {
		fmt.Fprintf(b.log, "\x1b[31mError: %v\x1b[0m\n", err)
		return nil, err
	}
	if err := s.sleep(s.cfg.Times.SnapshotBuild - time.Since(start)); err != nil {
		return nil, err
	}
	b.log.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.images[b.ref]; other != nil {
		return other, nil
	}
	s.images[b.ref] = img
	return img, nil
}

// buildSandbox builds what a sandbox was declared to be and boots it.
func (s *Server) buildSandbox(sb *sandbox, boot func() error) {
	s.mu.Lock()
	img := s.images[sb.build.ref]
	if img == nil {
		sb.build.log = &logBuffer{}
		sb.state = "building_snapshot"
		s.notify()
	}
	s.mu.Unlock()
	var err error
	if img == nil {
		img, err = s.runBuild(sb.build)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sb.busy = false
	if err != nil {
		sb.state, sb.reason = "build_failed", err.Error()
		s.notify()
		return
	}
	sb.img = img
	if sb.user == "root" && img.user != "" {
		sb.user = img.user
	}
	s.change(sb, "creating", "started", s.cfg.Times.Create, boot)
}

// pull pretends to fetch a base image.
func (s *Server) pull(name string) error {
	if slices.Contains(s.cfg.MissingImages, name) {
		return fmt.Errorf("manifest for %s not found: manifest unknown", name)
	}
	return nil
}
