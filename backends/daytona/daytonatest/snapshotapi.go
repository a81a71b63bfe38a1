//go:build !remotebox_runner

package daytonatest

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

type snapshotRequest struct {
	Name       string        `json:"name"`
	ImageName  string        `json:"imageName"`
	Entrypoint []string      `json:"entrypoint"`
	BuildInfo  *buildRequest `json:"buildInfo"`
	CPU        int           `json:"cpu"`
	GPU        int           `json:"gpu"`
	Memory     int           `json:"memory"`
	Disk       int           `json:"disk"`
	RegionID   string        `json:"regionId"`
	Class      string        `json:"sandboxClass"`
}

type snapshotDTO struct {
	ID             string        `json:"id"`
	OrganizationID string        `json:"organizationId"`
	General        bool          `json:"general"`
	Name           string        `json:"name"`
	ImageName      string        `json:"imageName"`
	State          string        `json:"state"`
	Size           *float64      `json:"size"`
	Entrypoint     []string      `json:"entrypoint"`
	CPU            int           `json:"cpu"`
	GPU            int           `json:"gpu"`
	Mem            int           `json:"mem"`
	Disk           int           `json:"disk"`
	ErrorReason    *string       `json:"errorReason"`
	CreatedAt      string        `json:"createdAt"`
	UpdatedAt      string        `json:"updatedAt"`
	LastUsedAt     *string       `json:"lastUsedAt"`
	BuildInfo      *buildInfoDTO `json:"buildInfo,omitempty"`
	RegionIDs      []string      `json:"regionIds"`
	Runner         string        `json:"initialRunnerId"`
	Ref            string        `json:"ref"`
	Source         string        `json:"sourceSandboxId,omitempty"`
	SandboxClass   string        `json:"sandboxClass"`
}

// snapshotDTO describes sn. s.mu is held.
func (s *Server) snapshotDTO(sn *snapshot) snapshotDTO {
	d := snapshotDTO{
		ID: sn.id, OrganizationID: s.orgID, General: sn.general, Name: sn.name, ImageName: sn.imageName, State: sn.state,
		Entrypoint: sn.entrypoint, CPU: sn.cpu, GPU: sn.gpu, Mem: sn.memory, Disk: sn.disk,
		CreatedAt: stamp(sn.created), UpdatedAt: stamp(sn.updated), RegionIDs: []string{sn.region}, Runner: "runner-1",
		Ref: sn.ref, Source: sn.source, SandboxClass: sn.class,
	}
	if sn.reason != "" {
		d.ErrorReason = &sn.reason
	}
	if sn.state == "active" {
		size := 0.1
		d.Size = &size
	}
	if !sn.lastUsed.IsZero() {
		at := stamp(sn.lastUsed)
		d.LastUsedAt = &at
	}
	if sn.build != nil {
		d.BuildInfo = sn.build.dto()
	}
	return d
}

var (
	snapshotName = regexp.MustCompile(`^[A-Za-z0-9_.:-]+(/[A-Za-z0-9_.:-]+)*(@sha256:[0-9a-f]{64})?$`)
	uuidText     = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

func noRunners(region, class string) error {
	return fail(400, "No runners are configured in region '%s' for sandbox class '%s'", region, class)
}

func (s *Server) createSnapshot(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var req snapshotRequest
	if err := readJSON(w, r, &req); err != nil {
		return 0, nil, err
	}
	def(&req.RegionID, s.cfg.Regions[0])
	def(&req.Class, classContainer)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkSnapshot(&req); err != nil {
		return 0, nil, err
	}
	now := time.Now()
	sn := &snapshot{
		id: newUUID(), name: req.Name, imageName: req.ImageName, ref: req.ImageName, class: req.Class, region: req.RegionID,
		state: "pending", cpu: req.CPU, gpu: req.GPU, memory: req.Memory, disk: req.Disk, entrypoint: req.Entrypoint, created: now, updated: now,
	}
	def(&sn.cpu, 1)
	def(&sn.memory, 1)
	def(&sn.disk, 3)
	if req.BuildInfo != nil {
		sn.build = newBuildInfo(req.BuildInfo)
		sn.ref = sn.build.ref
	}
	s.snapshots = append(s.snapshots, sn)
	s.tasks.Go(func() { s.provision(sn) })
	return 200, s.snapshotDTO(sn), nil
}

// checkSnapshot says no where the service does. s.mu is held.
func (s *Server) checkSnapshot(req *snapshotRequest) error {
	switch {
	case req.Name == "":
		return fail(400, "name should not be empty")
	case !snapshotName.MatchString(req.Name):
		return fail(400, "Invalid snapshot name %s. May contain letters, digits, dots, colons, slashes and dashes", req.Name)
	case !slices.Contains(s.cfg.Regions, req.RegionID):
		return fail(404, "Region not found")
	case req.Class != classContainer && req.Class != classVM:
		return fail(400, "Sandbox class '%s' is not supported", req.Class)
	case req.BuildInfo != nil && req.ImageName != "":
		return fail(400, "Cannot specify both build info and image name")
	case req.BuildInfo != nil && len(req.Entrypoint) > 0:
		return fail(400, "Cannot specify an entrypoint when using a build info entry")
	case req.BuildInfo == nil && req.ImageName == "":
		return fail(400, "Must specify either an image name or build info")
	case req.BuildInfo != nil && strings.TrimSpace(req.BuildInfo.Dockerfile) == "":
		return fail(400, "buildInfo.dockerfileContent should not be empty")
	case req.BuildInfo != nil && req.Class != classContainer:
		return fail(400, "Snapshots of sandbox class '%s' can only be created from an image", req.Class)
	case req.Class == classVM && !slices.Contains(s.cfg.VMRegions, req.RegionID):
		return noRunners(req.RegionID, req.Class)
	}
	if req.ImageName != "" {
		last := req.ImageName[strings.LastIndex(req.ImageName, "/")+1:]
		_, tag, tagged := strings.Cut(last, ":")
		if !tagged && !strings.Contains(last, "@") {
			return fail(400, "Image name must include a tag (e.g., ubuntu:22.04) or digest")
		}
		if tag == "latest" {
			return fail(400, `Image tag "latest" is not allowed`)
		}
	}
	q := s.cfg.Quota
	own := 0
	for _, sn := range s.snapshots {
		if sn.name == req.Name {
			return fail(409, "Snapshot with name %s already exists", req.Name)
		}
		if !sn.general {
			own++
		}
	}
	for _, x := range []struct {
		what      string
		size, max int
	}{{"CPU", req.CPU, q.CPUPerSandbox}, {"Memory", req.Memory, q.MemoryPerSandbox}, {"Disk", req.Disk, q.DiskPerSandbox}} {
		if x.max > 0 && x.size > x.max {
			return fail(400, "%s request %d exceeds maximum allowed per sandbox (%d)", x.what, x.size, x.max)
		}
	}
	if q.Snapshots > 0 && own >= q.Snapshots {
		return fail(400, "Snapshot quota exceeded. Maximum allowed: %d", q.Snapshots)
	}
	return nil
}

func (s *Server) listSnapshots(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	q := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*snapshot
	for _, sn := range s.snapshots {
		if strings.Contains(sn.name, q.Get("name")) && (q.Get("sourceSandboxId") == "" || sn.source == q.Get("sourceSandboxId")) {
			found = append(found, sn)
		}
	}
	slices.Reverse(found)
	page, part, err := paginate(q, found)
	if err != nil {
		return 0, nil, err
	}
	items := make([]snapshotDTO, 0, len(part))
	for _, sn := range part {
		items = append(items, s.snapshotDTO(sn))
	}
	page["items"] = items
	return 200, page, nil
}

func (s *Server) getSnapshot(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sn, err := s.findSnapshot(r.PathValue("s"))
	if err != nil {
		return 0, nil, err
	}
	return 200, s.snapshotDTO(sn), nil
}

// ownSnapshot finds a snapshot that may be changed, by its identifier only. s.mu is held.
func (s *Server) ownSnapshot(r *http.Request) (*snapshot, error) {
	id := r.PathValue("s")
	if !uuidText.MatchString(id) {
		return nil, fail(400, "Validation failed (uuid is expected)")
	}
	for _, sn := range s.snapshots {
		if sn.id == id {
			if sn.general {
				return nil, fail(403, "Forbidden resource")
			}
			return sn, nil
		}
	}
	return nil, fail(404, "Snapshot with ID %s not found", id)
}

func (s *Server) deleteSnapshot(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sn, err := s.ownSnapshot(r)
	if err != nil {
		return 0, nil, err
	}
	if !s.set(sn, "removing", "") {
		return 200, nil, nil
	}
	s.tasks.Go(func() {
		_ = s.sleep(s.cfg.Times.SnapshotRemove)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.snapshots = slices.DeleteFunc(s.snapshots, func(x *snapshot) bool { return x == sn })
		if sn.build != nil && !slices.ContainsFunc(s.snapshots, func(x *snapshot) bool { return x.ref == sn.ref }) {
			delete(s.images, sn.ref) // a rebuild builds; sandboxes keep the disk that they have
		}
		s.notify()
	})
	return 200, nil, nil
}

func (s *Server) activateSnapshot(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sn, err := s.ownSnapshot(r)
	if err != nil {
		return 0, nil, err
	}
	if sn.state == "active" {
		return 0, nil, fail(400, "Snapshot %s is already active", sn.name)
	}
	if sn.state != "inactive" {
		return 0, nil, fail(400, "Snapshot %s cannot be activated - it is in %s state", sn.name, sn.state)
	}
	if !sn.idleAt.IsZero() && time.Since(sn.idleAt) < 10*s.cfg.Minute {
		return 0, nil, fail(400, "Snapshot %s was deactivated less than 10 minutes ago", sn.name)
	}
	s.set(sn, "pending", "")
	s.tasks.Go(func() {
		_ = s.sleep(s.cfg.Times.SnapshotPending)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.set(sn, "active", "")
	})
	return 200, s.snapshotDTO(sn), nil
}

func (s *Server) deactivateSnapshot(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sn, err := s.ownSnapshot(r)
	if err != nil {
		return 0, nil, err
	}
	if sn.state != "active" {
		return 0, nil, fail(400, "Snapshot %s is not active", sn.name)
	}
	sn.idleAt = time.Now()
	s.set(sn, "inactive", "")
	return 204, nil, nil
}
