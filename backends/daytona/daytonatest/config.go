//go:build !remotebox_runner

package daytonatest

import "time"

// Config says how a [Server] behaves. The zero value is a fast, well-behaved server on a loopback port.
type Config struct {
	// Addr is where the API and the toolbox listen. Default "127.0.0.1:0". Anybody who reaches it and has the key runs
	// commands on this machine.
	Addr string

	// Key is the API key that is accepted. Default: a random one, in Server.Key.
	Key string

	// Dir is where disks, images and uploads live. Default: a temporary directory, removed by Close.
	Dir string

	// Regions that exist; the first is the default. Default "us", "eu".
	Regions []string

	// VMRegions are the regions with runners for linux-vm. Default: all of Regions. Where there are none, linux-vm gets
	// "No runners are configured in region …".
	VMRegions []string

	// Times are how long state changes take. Zero fields are short; [MeasuredTimes] are the service's.
	Times Times

	// Minute is the length of a minute for auto-stop, auto-pause, auto-archive, auto-delete, TTL and rate limits.
	// Default: a minute.
	Minute time.Duration

	// Quota is what the organization may use. Zero fields are unlimited.
	Quota Quota

	// RateLimits is how many requests a Minute a throttler ("authenticated", "sandbox-create", "sandbox-lifecycle") lets
	// pass before it answers 429 with Retry-After-<throttler>. Default: none.
	RateLimits map[string]int

	// Latency is added to every request, before it is looked at.
	Latency time.Duration

	// LogPoll is how often a followed log is looked at, as Daytona's daemon does it every 20 ms. Default: at once.
	LogPoll time.Duration

	// ReplayingProxy makes the toolbox proxy repeat a request once whose upstream connection broke (see
	// [Fault.Upstream]), when its body had a Content-Length of at most 256 KiB: as Daytona's own does.
	ReplayingProxy bool

	// V190 answers as server 0.190 did: no code and source in errors, empty bodies for errors of the file endpoints,
	// no /files/upload-v2, no region in the object storage's push access.
	V190 bool

	// NoStorage makes push-access answer 503, as a deployment without object storage does.
	NoStorage bool

	// MissingImages are base images that can't be pulled. Every other one is the host's own system.
	MissingImages []string

	// Directories makes sandboxes plain directories even where namespaces could be had.
	Directories bool

	// PrivateNetwork gives each sandbox a network of its own, with nothing but loopback: two of them can then listen on
	// one port, and none reaches the outside. Sandboxes with networkBlockAll have it anyway. It needs namespaces.
	PrivateNetwork bool

	// Logf, if set, is told about each request and state change.
	Logf func(format string, args ...any)
}

// Times are the durations of state changes.
type Times struct {
	Create  time.Duration // creating → started
	Start   time.Duration // starting → started
	Stop    time.Duration // stopping → stopped, at least
	Pause   time.Duration // pausing → paused
	Resume  time.Duration // resuming → started
	Destroy time.Duration // destroying → gone
	Archive time.Duration // archiving → archived
	Restore time.Duration // restoring → started

	SnapshotPending time.Duration // pending → building, pulling or active
	SnapshotBuild   time.Duration // building → active, at least
	SnapshotRemove  time.Duration // removing → gone; the name stays taken

	StopGrace    time.Duration // SIGTERM → SIGKILL when a sandbox is stopped without force
	SessionGrace time.Duration // SIGTERM → SIGKILL when a session is deleted
	FollowEnd    time.Duration // a command's end → the end of its followed log
	CreateHold   time.Duration // how long POST /sandbox waits for the start
}

// MeasuredTimes are what Daytona's own servers took on one machine, and the limits they have.
func MeasuredTimes() Times {
	return Times{
		Create: 800 * time.Millisecond, Start: 400 * time.Millisecond, Stop: 700 * time.Millisecond,
		Pause: time.Second, Resume: time.Second, Destroy: time.Second,
		Archive: 22 * time.Second, Restore: time.Second,
		SnapshotPending: time.Second, SnapshotBuild: 2 * time.Second, SnapshotRemove: 8 * time.Second,
		StopGrace: 10 * time.Second, SessionGrace: 5 * time.Second, FollowEnd: time.Second, CreateHold: 30 * time.Second,
	}
}

// Quota limits an organization. Sizes are in GiB.
type Quota struct {
	CPU, Memory, Disk                               int // of all sandboxes that hold them
	CPUPerSandbox, MemoryPerSandbox, DiskPerSandbox int
	Snapshots                                       int
}

func (c *Config) fill() {
	def(&c.Addr, "127.0.0.1:0")
	if len(c.Regions) == 0 {
		c.Regions = []string{"us", "eu"}
	}
	if c.VMRegions == nil {
		c.VMRegions = c.Regions
	}
	def(&c.Minute, time.Minute)
	t := &c.Times
	for _, d := range []*time.Duration{
		&t.Create, &t.Start, &t.Stop, &t.Pause, &t.Resume, &t.Destroy, &t.Archive, &t.Restore,
		&t.SnapshotPending, &t.SnapshotBuild, &t.SnapshotRemove, &t.FollowEnd,
	} {
		def(d, 20*time.Millisecond)
	}
	def(&t.StopGrace, 2*time.Second)
	def(&t.SessionGrace, time.Second)
	def(&t.CreateHold, 30*time.Second)
	if c.Logf == nil {
		c.Logf = func(string, ...any) {}
	}
}

func def[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}
