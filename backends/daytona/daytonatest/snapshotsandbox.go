//go:build !remotebox_runner

package daytonatest

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// snapshotSandbox makes a snapshot from a sandbox's disk.
func (s *Server) snapshotSandbox(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var req struct {
		Name string `json:"name"`
	}
	if err := readJSON(w, r, &req); err != nil {
		return 0, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sb, err := s.find(r.PathValue("s"))
	if err != nil {
		return 0, nil, err
	}
	if err := errored(sb); err != nil {
		return 0, nil, err
	}
	check := &snapshotRequest{Name: req.Name, ImageName: "sandbox:" + sb.id, RegionID: sb.region, Class: sb.class}
	if err := s.checkSnapshot(check); err != nil {
		return 0, nil, err
	}
	now := time.Now()
	sn := &snapshot{
		id: newUUID(), name: req.Name, class: sb.class, region: sb.region, state: "snapshotting", cpu: sb.cpu, gpu: sb.gpu,
		memory: sb.memory, disk: sb.disk, source: sb.id, created: now, updated: now,
	}
	sn.ref = "sandbox-" + sn.id
	s.snapshots = append(s.snapshots, sn)
	before := sb.state
	s.change(sb, "snapshotting", before, s.cfg.Times.SnapshotBuild, func() error {
		layer := filepath.Join(s.dir, "images", sn.id)
		if err := os.MkdirAll(layer, 0o755); err != nil {
			return err
		}
		out, err := exec.Command("cp", "-a", s.diskOf(sb)+"/.", layer).CombinedOutput()
		s.mu.Lock()
		defer s.mu.Unlock()
		if err != nil {
			s.set(sn, "error", string(out))
			return nil
		}
		img := *sb.img
		img.ref, img.layers = sn.ref, append([]string{layer}, sb.img.layers...)
		sn.img = &img
		s.set(sn, "active", "")
		return nil
	})
	return 200, s.dto(sb), nil
}
