//go:build !remotebox_runner

package daytonatest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// createRequest is the body of POST /sandbox, as far as it has an effect here.
type createRequest struct {
	Name        string            `json:"name"`
	Snapshot    string            `json:"snapshot"`
	User        string            `json:"user"`
	Env         map[string]string `json:"env"`
	Labels      map[string]string `json:"labels"`
	Public      bool              `json:"public"`
	BlockAll    bool              `json:"networkBlockAll"`
	AllowList   string            `json:"networkAllowList"`
	DomainAllow string            `json:"domainAllowList"`
	Target      string            `json:"target"`
	CPU         *int              `json:"cpu"`
	Memory      *int              `json:"memory"`
	Disk        *int              `json:"disk"`
	GPU         *int              `json:"gpu"`
	AutoStop    *int              `json:"autoStopInterval"`
	AutoPause   *int              `json:"autoPauseInterval"`
	AutoArchive *int              `json:"autoArchiveInterval"`
	AutoDelete  *int              `json:"autoDeleteInterval"`
	TTL         *int              `json:"ttlMinutes"`
	Volumes     json.RawMessage   `json:"volumes"`
	BuildInfo   *buildRequest     `json:"buildInfo"`
}

var sandboxName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

func (s *Server) createSandbox(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var req createRequest
	if err := readJSON(w, r, &req); err != nil {
		return 0, nil, err
	}
	s.mu.Lock()
	sb, dto, err := s.admit(&req)
	s.mu.Unlock()
	if err != nil {
		return 0, nil, err
	}
	// The request is held until the sandbox has started, and yet answered with what it was at the beginning. A build is
	// not waited for.
	if sb.build == nil {
		s.await(r.Context(), s.cfg.Times.CreateHold, func() bool { return !sb.busy })
	}
	return 200, dto, nil
}

// admit checks a request and starts a sandbox's life. s.mu is held.
func (s *Server) admit(req *createRequest) (*sandbox, sandboxDTO, error) {
	none := sandboxDTO{}
	now := time.Now()
	sb := &sandbox{
		id: newUUID(), name: req.Name, class: classContainer, region: req.Target, env: req.Env, labels: orEmpty(req.Labels),
		public: req.Public, blockAll: req.BlockAll, networkAllow: req.AllowList, domainAllow: req.DomainAllow, volumes: req.Volumes,
		cpu: 1, memory: 1, disk: 3, state: "creating", desired: "started", backup: "None", created: now, updated: now, lastActivity: now,
	}
	if sb.region == "" {
		sb.region = s.cfg.Regions[0]
	}
	if !slices.Contains(s.cfg.Regions, sb.region) {
		return nil, none, fail(404, "Region not found")
	}
	if sb.name == "" {
		sb.name = sb.id
	} else if !sandboxName.MatchString(sb.name) {
		return nil, none, fail(400, "name must contain only letters, numbers, underscores, periods, and hyphens")
	}
	if other, err := s.find(sb.name); err == nil && other.name == sb.name {
		return nil, none, fail(409, "Sandbox with name %s already exists", sb.name)
	}
	if err := s.choose(sb, req); err != nil {
		return nil, none, err
	}
	if err := sb.intervals(req); err != nil {
		return nil, none, err
	}
	if err := s.fits(sb, req); err != nil {
		return nil, none, err
	}
	s.sandboxes = append(s.sandboxes, sb)
	boot := func() error { return s.boot(sb) }
	if sb.build != nil {
		sb.state, sb.busy = "pending_build", true
		dto := s.dto(sb)
		s.tasks.Go(func() { s.buildSandbox(sb, boot) })
		return sb, dto, nil
	}
	dto := s.dto(sb)
	s.change(sb, "creating", "started", s.cfg.Times.Create, boot)
	return sb, dto, nil
}

// choose says what sb boots and how big it is. s.mu is held.
func (s *Server) choose(sb *sandbox, req *createRequest) error {
	sizes := []struct {
		from *int
		to   *int
	}{{req.CPU, &sb.cpu}, {req.Memory, &sb.memory}, {req.Disk, &sb.disk}, {req.GPU, &sb.gpu}}
	if req.BuildInfo != nil {
		if req.Snapshot != "" {
			return fail(400, "Cannot specify a snapshot when using a build info entry")
		}
		if strings.TrimSpace(req.BuildInfo.Dockerfile) == "" {
			return fail(400, "buildInfo.dockerfileContent should not be empty")
		}
		sb.build = newBuildInfo(req.BuildInfo)
		sb.user = orRoot(req.User)
		for _, size := range sizes {
			if size.from != nil {
				*size.to = *size.from
			}
		}
		return nil
	}
	if req.Snapshot != "" && (req.CPU != nil || req.Memory != nil || req.Disk != nil || req.GPU != nil) {
		return fail(400, "Cannot specify Sandbox resources when using a snapshot")
	}
	name := req.Snapshot
	def(&name, defaultSnapshot)
	sn, err := s.findSnapshot(name)
	if err != nil || sn.state == "removing" {
		return fail(400, "Snapshot %s not found. Did you add it through the Daytona Dashboard?", name)
	}
	if sn.state != "active" {
		return fail(400, "Snapshot %s is %s", name, sn.state)
	}
	if sn.class == classVM && !slices.Contains(s.cfg.VMRegions, sb.region) {
		return noRunners(sb.region, sn.class)
	}
	sb.snapshot, sb.class, sb.img, sb.user = sn.name, sn.class, sn.img, orRoot(sn.img.user)
	def(&req.User, sb.user)
	sb.user = req.User
	sb.cpu, sb.memory, sb.disk, sb.gpu = sn.cpu, sn.memory, sn.disk, sn.gpu
	sn.lastUsed = time.Now()
	if req.Snapshot == "" {
		for _, size := range sizes {
			if size.from != nil {
				*size.to = *size.from
			}
		}
	}
	return nil
}

func orRoot(user string) string {
	def(&user, "root")
	return user
}

// intervals sets the timers, with the service's defaults.
func (sb *sandbox) intervals(req *createRequest) error {
	sb.autoStop, sb.autoArchive, sb.autoDel = 15, 7*24*60, -1
	if p := req.AutoDelete; p != nil {
		sb.autoDel = *p
	}
	if sb.class == classVM && req.AutoStop == nil && sb.autoDel != 0 {
		sb.autoStop, sb.autoPause = 0, 60
	}
	if p := req.AutoStop; p != nil {
		if *p < 0 {
			return fail(400, "Auto-stop interval must be non-negative")
		}
		sb.autoStop = *p
	}
	if p := req.AutoPause; p != nil && *p != 0 {
		switch {
		case sb.class != classVM:
			return fail(400, "Auto-pause is not supported for this sandbox class")
		case req.AutoStop != nil && *req.AutoStop != 0:
			return fail(400, "Auto-pause and auto-stop cannot both be set")
		case sb.autoDel == 0:
			return fail(400, "Auto-pause is not supported for ephemeral sandboxes")
		}
		sb.autoPause, sb.autoStop = *p, 0
	} else if p != nil {
		sb.autoPause = 0
	}
	if p := req.AutoArchive; p != nil {
		if err := setAutoArchive(sb, *p); err != nil {
			return err
		}
	}
	if p := req.TTL; p != nil {
		sb.ttl = *p
	}
	return nil
}

func setAutoArchive(sb *sandbox, n int) error {
	const most = 30 * 24 * 60
	if n < 0 || n > most {
		return fail(400, "Auto-archive interval must be between 0 and %d", most)
	}
	if n == 0 {
		n = most
	}
	sb.autoArchive = n
	return nil
}
