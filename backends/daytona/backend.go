// Package daytona runs functions in sandboxes of Daytona (https://www.daytona.io) and of servers
// that speak its API.
//
// A sandbox is made from a snapshot, which holds the runner and what the user's Dockerfile makes.
// Snapshots are named by their content and built when one is missing, see [Backend.AutoBuild].
// Package daytonatest is a server to test against without an account.
package daytona

import (
	"time"

	"github.com/remote-box/remote/driver"
)

// Name is the backend's name.
const Name = "daytona"

// DefaultSnapshotName is what snapshot names begin with where a Backend says nothing else.
const DefaultSnapshotName = "remote-box"

// DefaultBaseImage is what snapshots are made from without a Dockerfile: Debian with a shell, CA
// certificates, time zones and curl.
const DefaultBaseImage = "buildpack-deps:bookworm-curl"

// Class is a kind of sandbox.
type Class string

// The classes in which functions can run.
const (
	Container Class = "container" // pausing stops it: files stay, processes end
	LinuxVM   Class = "linux-vm"  // pausing suspends it: memory stays too
)

// Secret is a string that does not print itself. Constants need no conversion.
type Secret = driver.Secret

// Backend makes sandboxes at Daytona. The zero value is ready to use where the key is in
// DAYTONA_API_KEY or in the file ~/.config/daytona/api_key.
//
// What functions print arrives without its NUL bytes, as does the output of commands: Daytona drops
// them. Results and files are exact. Which process was killed because memory ran out can't be told:
// Daytona does not say, and a sandbox in which everything was killed at once is one that was stopped.
type Backend struct {
	// SnapshotName is what the names of snapshots begin with: {SnapshotName}-{identity}-{class}.
	// The default is DefaultSnapshotName.
	SnapshotName string

	// Snapshot is a snapshot to be used as it is, instead of one that is made: it must have been
	// made by this package from the same sources.
	Snapshot string

	// APIKey authenticates. When it is empty, the variable DAYTONA_API_KEY or the key file does.
	APIKey Secret
	// JWTToken authenticates instead of a key, together with OrganizationID; the variables are
	// DAYTONA_JWT_TOKEN and DAYTONA_ORGANIZATION_ID.
	JWTToken       Secret
	OrganizationID string

	// APIURL is where the API is; when empty the variable DAYTONA_API_URL says so, else it is
	// Daytona's own. Plain HTTP is for servers on this host.
	APIURL string
	// Target is the region for sandboxes and snapshots; when empty the variable DAYTONA_TARGET
	// says so, else the organization's default. Daytona keeps a snapshot in the region that it was
	// made in: the region is part of the names of snapshots if it is given.
	Target string

	// Dockerfile is the path of the Dockerfile that makes the functions' surroundings, from the
	// module's root if it is not absolute. Its build context is the module's root. What is no
	// Dockerfile is a *remote.BuildError before anything is uploaded. Daytona builds
	// it for linux/amd64 with Docker's classic builder; empty directories of the context are
	// lost, and symlinks become copies of what they point to, or are left out, which the build's
	// log says, if that is not in the context. USER, WORKDIR and ENV hold;
	// ENTRYPOINT and CMD are not run.
	Dockerfile string
	// BaseImage is what snapshots are made from without a Dockerfile, DefaultBaseImage when
	// empty. It must have a shell and env.
	BaseImage string

	// Class is the class of sandboxes, Container when empty. Snapshots of class LinuxVM are
	// made from a BaseImage, not from a Dockerfile.
	Class Class

	// CPUs, MemoryGB and DiskGB are a sandbox's size: 1, 1 and 3 when zero. They are part of the
	// snapshot. Functions find GOMEMLIMIT set to 7/8 of the memory, unless Env or the Dockerfile
	// sets it.
	CPUs, MemoryGB, DiskGB int

	// AutoBuild says whether a missing snapshot may be built on the first call; the variable
	// REMOTE_BOX_AUTO_BUILD decides when it is nil.
	AutoBuild *bool
	// Build chooses how the runner is compiled.
	Build driver.Build

	// CreateTimeout is how long a sandbox may take until it runs, 120 seconds when zero. The
	// building of a snapshot does not count.
	CreateTimeout time.Duration

	// Env is added to the functions' environment. It goes with every call and is not part of the
	// sandbox's description. In a sandbox with a single call it is in the text of the command,
	// which whoever has the key can read as long as the sandbox exists.
	Env map[string]string
	// Labels are added to sandboxes' labels.
	Labels map[string]string

	// AutoStop is how long a sandbox stays when no call is made, 15 minutes when zero, never
	// ended if negative; Daytona counts in minutes. A sandbox of class LinuxVM is paused then,
	// others are stopped; the next call starts it again, as long as KeepPaused lets it. It also is
	// what ends the sandboxes of a program that died.
	AutoStop time.Duration
	// KeepPaused is how long a sandbox that was stopped, by a pause or by AutoStop, waits to be
	// resumed until Daytona deletes it with its files: 7 days when zero, so that what nobody knows
	// of any more does not stay; for ever if negative. Daytona does not count it in sandboxes that
	// are suspended (class LinuxVM) or archived: these stay until they are closed, or for TTL.
	KeepPaused time.Duration
	// TTL is how long a sandbox may exist, whatever it does; no limit when zero.
	TTL time.Duration
	// Ephemeral deletes a sandbox as soon as it is stopped. It can't be paused then: Pause is an
	// error that satisfies errors.Is(err, errors.ErrUnsupported).
	Ephemeral bool
	// ArchivePaused moves the files of paused sandboxes of class Container to cheaper storage, out
	// of the disk quota. Pausing and resuming then take much longer.
	ArchivePaused bool

	// NetworkBlockAll cuts sandboxes off from the network; NetworkAllow lists address ranges, as
	// "10.0.0.0/8", and DomainAllow domains that alone can be reached.
	NetworkBlockAll bool
	NetworkAllow    []string
	DomainAllow     []string

	// Volumes are to be seen in sandboxes.
	Volumes []Volume

	// beat is how often a long call says that its sandbox is in use; for tests.
	beat time.Duration
	// doubt is after what idle time a connection to a command's log is doubted; for tests.
	doubt time.Duration
	// direct sends every call as a command of its own; for measurements.
	direct bool
}

// Volume is one of the organization's volumes, to be seen in a sandbox.
type Volume struct {
	ID      string // of the volume
	Target  string // absolute path in the sandbox
	Subpath string // what to show of the volume; all of it when empty
}

var _ driver.Pausable = Backend{}

// Name implements driver.Backend.
func (Backend) Name() string { return Name }

// PauseSemantics implements driver.Pausable. It is PauseNone for Ephemeral sandboxes, which can't be
// paused.
func (b Backend) PauseSemantics() driver.PauseSemantics {
	switch {
	case b.Class == LinuxVM && !b.Ephemeral:
		return driver.PauseSuspend
	case b.Ephemeral:
		return driver.PauseNone
	}
	return driver.PauseStop
}
