//go:build !remotebox_runner

package daytonatest

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strconv"
	"time"
)

// sandbox is one sandbox's record. The server's mutex guards it, save what is set once at creation.
type sandbox struct {
	id, name, snapshot string // only name changes
	class, region      string
	user               string
	env                map[string]string
	cpu, memory, disk  int
	gpu                int
	img                *image
	build              *buildInfo
	created            time.Time

	labels                                         map[string]string
	public, blockAll                               bool
	networkAllow, domainAllow                      string
	volumes                                        json.RawMessage
	state, desired, reason, backup                 string
	recoverable                                    bool
	autoStop, autoPause, autoArchive, autoDel, ttl int
	updated, lastActivity, stoppedAt               time.Time
	busy                                           bool // a change of state is under way
	open                                           int  // requests that the toolbox is answering
	machine                                        machine
	daemon                                         *daemon
}

const (
	classContainer = "container"
	classVM        = "linux-vm"
)

// A Sandbox is what the server knows about one sandbox.
type Sandbox struct {
	ID, Name, Snapshot, Class, State string
	Labels                           map[string]string
	Env                              map[string]string
	Created, LastActivity            time.Time
	Processes                        []int // as this machine numbers them; process 1 of the sandbox is among them
}

// Sandboxes are the sandboxes that exist, those that are being destroyed included.
func (s *Server) Sandboxes() []Sandbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Sandbox
	for _, sb := range s.sandboxes {
		x := Sandbox{
			ID: sb.id, Name: sb.name, Snapshot: sb.snapshot, Class: sb.class, State: sb.state,
			Labels: maps.Clone(sb.labels), Env: maps.Clone(sb.env), Created: sb.created, LastActivity: sb.lastActivity,
		}
		if sb.machine != nil {
			x.Processes = sb.machine.pids()
		}
		out = append(out, x)
	}
	return out
}

// find looks a sandbox up by identifier or name. One that is being destroyed has no name any more. s.mu is held.
func (s *Server) find(idOrName string) (*sandbox, error) {
	for _, sb := range s.sandboxes {
		if sb.id == idOrName || sb.name == idOrName && sb.state != "destroying" {
			return sb, nil
		}
	}
	return nil, fail(404, "Sandbox with ID or name %s not found", idOrName)
}

// spec is what sb's machine is made from.
func (s *Server) spec(sb *sandbox) machineSpec {
	env := append([]string{"PATH=" + defaultPath, "LANG=C.UTF-8"}, sb.img.env...)
	for k, v := range sb.env {
		env = append(env, k+"="+v)
	}
	env = mergeEnv(env, []string{
		"DAYTONA_SANDBOX_ID=" + sb.id, "DAYTONA_SANDBOX_SNAPSHOT=" + sb.snapshot, "DAYTONA_SANDBOX_USER=" + sb.user,
		"DAYTONA_REGION_ID=" + sb.region,
	})
	return machineSpec{id: sb.id, disk: s.diskOf(sb), layers: sb.img.layers, env: env, user: sb.user, ownNet: s.cfg.PrivateNetwork || sb.blockAll}
}

func (s *Server) diskOf(sb *sandbox) string { return filepath.Join(s.dir, "disks", sb.id) }

// sandboxDTO is the service's description of a sandbox.
type sandboxDTO struct {
	ID                  string            `json:"id"`
	OrganizationID      string            `json:"organizationId"`
	Name                string            `json:"name"`
	Snapshot            string            `json:"snapshot,omitempty"`
	User                string            `json:"user"`
	Env                 map[string]string `json:"env,omitzero"`
	Labels              map[string]string `json:"labels"`
	Public              bool              `json:"public"`
	NetworkBlockAll     bool              `json:"networkBlockAll"`
	KVM                 *bool             `json:"kvm,omitempty"` // newer clients insist on it
	NetworkAllowList    string            `json:"networkAllowList,omitempty"`
	DomainAllowList     string            `json:"domainAllowList,omitempty"`
	Target              string            `json:"target"`
	CPU                 int               `json:"cpu"`
	GPU                 int               `json:"gpu"`
	Memory              int               `json:"memory"`
	Disk                int               `json:"disk"`
	State               string            `json:"state"`
	DesiredState        string            `json:"desiredState"`
	ErrorReason         *string           `json:"errorReason"`
	Recoverable         bool              `json:"recoverable"`
	BackupState         string            `json:"backupState"`
	AutoStopInterval    int               `json:"autoStopInterval"`
	AutoPauseInterval   int               `json:"autoPauseInterval"`
	AutoArchiveInterval int               `json:"autoArchiveInterval"`
	AutoDeleteInterval  int               `json:"autoDeleteInterval"`
	AutoDestroyAt       *string           `json:"autoDestroyAt"`
	Volumes             json.RawMessage   `json:"volumes"`
	BuildInfo           *buildInfoDTO     `json:"buildInfo,omitempty"`
	CreatedAt           string            `json:"createdAt"`
	UpdatedAt           string            `json:"updatedAt"`
	LastActivityAt      string            `json:"lastActivityAt"`
	SandboxClass        string            `json:"sandboxClass"`
	DaemonVersion       string            `json:"daemonVersion"`
	RunnerID            string            `json:"runnerId"`
	ToolboxProxyURL     string            `json:"toolboxProxyUrl"`
}

// dto describes sb. s.mu is held.
func (s *Server) dto(sb *sandbox) sandboxDTO {
	d := sandboxDTO{
		ID: sb.id, OrganizationID: s.orgID, Name: sb.name, Snapshot: sb.snapshot, User: sb.user,
		Env: orEmpty(sb.env), Labels: orEmpty(sb.labels), Public: sb.public,
		NetworkBlockAll: sb.blockAll, NetworkAllowList: sb.networkAllow, DomainAllowList: sb.domainAllow,
		Target: sb.region, CPU: sb.cpu, GPU: sb.gpu, Memory: sb.memory, Disk: sb.disk,
		State: sb.state, DesiredState: sb.desired, Recoverable: sb.recoverable, BackupState: sb.backup,
		AutoStopInterval: sb.autoStop, AutoPauseInterval: sb.autoPause, AutoArchiveInterval: sb.autoArchive, AutoDeleteInterval: sb.autoDel,
		Volumes: sb.volumes, CreatedAt: stamp(sb.created), UpdatedAt: stamp(sb.updated), LastActivityAt: stamp(sb.lastActivity),
		SandboxClass: sb.class, DaemonVersion: s.version(), RunnerID: "runner-1", ToolboxProxyURL: s.ToolboxURL(),
	}
	if !s.cfg.V190 {
		d.KVM = new(bool)
	}
	if sb.reason != "" {
		d.ErrorReason = &sb.reason
	}
	if sb.ttl > 0 {
		at := stamp(sb.created.Add(time.Duration(sb.ttl) * s.cfg.Minute))
		d.AutoDestroyAt = &at
	}
	if sb.build != nil {
		d.BuildInfo = sb.build.dto()
	}
	if d.Volumes == nil {
		d.Volumes = json.RawMessage("[]")
	}
	return d
}

func (s *Server) version() string {
	if s.cfg.V190 {
		return "0.190.0"
	}
	return "0.216.0"
}

// stamp has milliseconds, as JavaScript's dates do: Python's client refuses nanoseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return maps.Clone(m)
}

// pathInt reads a number at the end of a path.
func pathInt(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fail(400, "Validation failed (numeric string is expected)")
	}
	return n, nil
}
