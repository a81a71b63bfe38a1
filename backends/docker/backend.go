// Package docker runs functions in containers of a Docker Engine, also one in a virtual machine
// (Docker Desktop) or on another host.
//
// A sandbox is a container whose first process is the runner. Its image is made by BuildKit: the
// runner on an otherwise almost empty base, or as one last layer on what the user's Dockerfile
// makes. Nothing of a Dockerfile's ENTRYPOINT or CMD is run; its USER, WORKDIR and ENV hold.
//
// A call outlives the connection to the engine: the runner goes on, and its result is asked for over
// another connection. Without any for two minutes a container ends by itself, with all that runs in
// it; a paused one waits for as long as the engine keeps it. Containers carry the label
// "remote-box=1" and others that tell whose they are; what a program that died has left behind is
// removed by the next one on the same host.
//
// The package is a module of its own, because BuildKit's client has many dependencies:
//
//	go get github.com/remote-box/remote/backends/docker
package docker

import "github.com/remote-box/remote/driver"

// Name is the backend's name.
const Name = "docker"

// DefaultPrefix is the repository of images where a Backend says nothing else.
const DefaultPrefix = "remote-box"

// Backend makes sandboxes out of containers. The zero value is ready to use where an engine runs.
type Backend struct {
	// Prefix is the repository of the images that are made; their tags tell what is in them. The
	// default is DefaultPrefix. Names that are only local need no registry.
	Prefix string

	// Dockerfile is the path of the Dockerfile that makes the functions' surroundings, from the
	// module's root if it is not absolute. Its build context is the module's root. Without one
	// they get the runner, CA certificates, time zones, /tmp, and a user with a home and a
	// working directory, /work.
	Dockerfile string

	// Pinned is an image to be used as it is, instead of one that is made: it must have been made
	// by this package from the same sources.
	Pinned string

	// CPUs is how much processor time a sandbox may use, 1.5 for one and a half; 0 for no limit.
	CPUs float64
	// MemoryMB is how much memory it may use, in MiB, swap included; 0 for no limit.
	MemoryMB int64
	// PIDs is how many processes and threads it may have; 0 for the engine's default.
	PIDs int64

	// Network is the engine's network to join, or "none"; the engine's default when empty.
	Network string

	// Env is added to the functions' environment. It is no part of the image.
	Env map[string]string

	// Mounts are directories and volumes to be seen in the sandbox.
	Mounts []Mount

	// User runs the functions, as "name", "uid" or "uid:gid"; the image's own when empty.
	User string

	// Runtime is the engine's OCI runtime to use, such as "runsc"; its default when empty.
	Runtime string

	// Platform is what runners and images are made for, such as "linux/arm64"; Linux on this
	// program's architecture when empty.
	Platform string

	// ReadOnlyRoot makes everything unwritable but /tmp, mounts and, without a Dockerfile, the
	// home and working directories. What is writable is then kept in memory, and counts as such.
	ReadOnlyRoot bool

	// AutoBuild says whether a missing image may be built on the first call; the variable
	// REMOTE_BOX_AUTO_BUILD decides when it is nil.
	AutoBuild *bool

	// Build chooses how the runner is compiled.
	Build driver.Build

	// Host is where the engine listens, such as "unix:///run/docker.sock" or
	// "tcp://10.0.0.7:2375". When it is empty the variable DOCKER_HOST says so, with those for
	// TLS, else the usual sockets are looked for.
	Host string
}

// Mount is a directory of the engine's host, or one of its volumes, to be seen in a sandbox.
type Mount struct {
	Source   string // an absolute path, or a volume's name
	Target   string // absolute path in the sandbox
	ReadOnly bool
}

var _ driver.Pausable = Backend{}

// Name implements driver.Backend.
func (Backend) Name() string { return Name }

// PauseSemantics implements driver.Pausable: the engine freezes a container's processes.
func (Backend) PauseSemantics() driver.PauseSemantics { return driver.PauseSuspend }
