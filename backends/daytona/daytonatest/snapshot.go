//go:build !remotebox_runner

package daytonatest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"
)

const defaultSnapshot = "daytona-small"

// snapshot is one snapshot's record. The server's mutex guards it.
type snapshot struct {
	id, name, imageName, ref           string
	class, region                      string
	general                            bool
	state, reason                      string
	cpu, gpu, memory, disk             int
	entrypoint                         []string
	build                              *buildInfo
	img                                *image
	source                             string // the sandbox that it was made from
	created, updated, lastUsed, idleAt time.Time
}

// A Snapshot is what the server knows about one snapshot.
type Snapshot struct {
	ID, Name, State, Class, Ref, ErrorReason string
}

// Snapshots are the organization's own snapshots, those that are being removed included.
func (s *Server) Snapshots() []Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Snapshot
	for _, sn := range s.snapshots {
		if !sn.general {
			out = append(out, Snapshot{ID: sn.id, Name: sn.name, State: sn.state, Class: sn.class, Ref: sn.ref, ErrorReason: sn.reason})
		}
	}
	return out
}

// addPlatformSnapshots makes the snapshots that every organization has.
func (s *Server) addPlatformSnapshots() {
	now := time.Now()
	img := &image{ref: "daytonaio/sandbox:0.5.0", user: "daytona", workdir: "/home/daytona"}
	for i, size := range []string{"small", "medium", "large"} {
		for _, class := range []string{classContainer, classVM} {
			name := "daytona-" + size
			if class == classVM {
				name = "daytona-vm-" + size
			}
			s.snapshots = append(s.snapshots, &snapshot{
				id: newUUID(), name: name, imageName: img.ref, ref: img.ref, class: class, region: s.cfg.Regions[0], general: true,
				state: "active", cpu: 1 << i, memory: 1 << i, disk: 3 + 5*i, img: img, created: now, updated: now, lastUsed: now,
			})
		}
	}
}

// findSnapshot looks a snapshot up by identifier or name. s.mu is held.
func (s *Server) findSnapshot(idOrName string) (*snapshot, error) {
	for _, sn := range s.snapshots {
		if sn.id == idOrName || sn.name == idOrName {
			return sn, nil
		}
	}
	return nil, fail(404, "Snapshot with ID or name %s not found", idOrName)
}

// buildRequest is what a build is asked to make.
type buildRequest struct {
	Dockerfile string   `json:"dockerfileContent"`
	Hashes     []string `json:"contextHashes"`
}

// buildInfo is a build, and its log once there is one.
type buildInfo struct {
	buildRequest
	ref     string
	created time.Time
	log     *logBuffer // nil until the build runs; guarded by the server's mutex
}

func newBuildInfo(req *buildRequest) *buildInfo {
	hashes := slices.Sorted(slices.Values(req.Hashes))
	sum := sha256.Sum256([]byte(req.Dockerfile + strings.Join(hashes, ",")))
	return &buildInfo{buildRequest: *req, ref: fmt.Sprintf("daytona-%x:daytona", sum), created: time.Now()}
}

type buildInfoDTO struct {
	Dockerfile string   `json:"dockerfileContent"`
	Hashes     []string `json:"contextHashes"`
	CreatedAt  string   `json:"createdAt"`
	UpdatedAt  string   `json:"updatedAt"`
	Ref        string   `json:"snapshotRef"`
}

func (b *buildInfo) dto() *buildInfoDTO {
	return &buildInfoDTO{
		Dockerfile: b.Dockerfile, Hashes: slices.Concat([]string{}, b.Hashes),
		CreatedAt: stamp(b.created), UpdatedAt: stamp(b.created), Ref: b.ref,
	}
}

// set changes a snapshot's state, unless it is on its way out. s.mu is held.
func (s *Server) set(sn *snapshot, state, reason string) bool {
	if sn.state == "removing" {
		return false
	}
	sn.state, sn.reason, sn.updated = state, reason, time.Now()
	s.notify()
	s.cfg.Logf("snapshot %s: %s %s", sn.name, state, reason)
	return true
}
