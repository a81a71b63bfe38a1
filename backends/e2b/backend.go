// Package e2b runs functions in E2B microVMs, on E2B's cloud or on any server that speaks its API.
//
//	var Greet = remote.New(greet, remote.On(e2b.Backend{TemplatePrefix: "my-project"}))
//
// The key comes from the field APIKey, the variable E2B_API_KEY or the file ~/.config/e2b/api_key.
// E2B_DOMAIN, E2B_API_URL, E2B_SANDBOX_URL and E2B_DEBUG mean what they mean to E2B's own SDKs.
//
// # Images
//
// An image is an E2B template: a base, or what a Dockerfile says, with the runner in it. Its name is
// TemplatePrefix and a digest of everything that is in it. A missing one is built on the first
// call, or by `remote-box build`.
//
// A Dockerfile is translated into E2B's build steps, because E2B builds no Dockerfiles. It has one
// stage, and neither mounts nor files of other images; what can't be translated is an error with its
// line before anything is sent. CMD and ENTRYPOINT never run. What the base image itself says is not
// known: functions run as root, in /, unless the Dockerfile says USER and WORKDIR, and $PATH in ENV is
// that of root's login shell. What may matter of that is warned of in the build's log. Without a
// Dockerfile functions run as "user", in /home/user.
//
// # Requests
//
// A call in a session is one request, a call in a sandbox of its own is two before its result is
// there and one after: create, run, delete. Inputs and results over 64 KiB are files that are
// streamed, with one more request each.
//
// # Lifetime
//
// A sandbox lives for TTL, which is renewed beside the calls while there are any: when less than half
// of it is left, and never shortened. A session that is forgotten ends by itself, or is paused if
// AutoPause is set. Pausing keeps memory and files.
//
// An answer that is lost may leave a sandbox that nobody knows: it is looked for and removed, which can
// take some seconds when a sandbox is closed or could not be made. What a process prints while its
// stream is broken is lost.
package e2b

import (
	"io"
	"time"

	"github.com/remote-box/remote/driver"
)

// Secret is a string that does not print itself. Constants need no conversion.
type Secret = driver.Secret

// Backend makes sandboxes on E2B. The zero value is ready to use where there is a key.
type Backend struct {
	// APIKey is E2B's key. Empty means the variable E2B_API_KEY, else the key file.
	APIKey Secret

	// TemplatePrefix begins the names of templates; "remote-box" if empty. It is made of lower-case
	// letters, digits, "-" and "_".
	TemplatePrefix string
	// Template is a template to be used as it is, by name or id. It must have been built by
	// remote-box from the same functions.
	Template string
	// AutoBuild says whether a missing template may be built by a call. nil means what the variable
	// REMOTE_BOX_AUTO_BUILD says, else yes.
	AutoBuild *bool
	// BuildLog gets what a build prints, and what goes wrong beside the calls; the standard error of
	// this program if nil. It must be safe for several goroutines at once, as an *os.File is: builds
	// that run at once share it. Each gets whole lines.
	BuildLog io.Writer

	// Dockerfile is the path of a Dockerfile, from the module's root if it is not absolute.
	Dockerfile string
	// BaseImage is the image of which templates are made where there is no Dockerfile;
	// "e2bdev/base" if empty.
	BaseImage string
	// BaseTemplate is a template to make templates of, instead of an image.
	BaseTemplate string
	// Registry is needed to pull a private base image.
	Registry Registry

	// CPUs is 1 or an even number; 0 means 1. MemoryMB is even; 0 means 1024.
	CPUs     int
	MemoryMB int

	// StartCmd is started when the template is built, and is running in every sandbox; ReadyCmd
	// tells, by succeeding, when it is ready. PostCreateCmd is run as root in the background of
	// every new sandbox; it is not part of the template.
	StartCmd, ReadyCmd, PostCreateCmd string

	// TTL is how long a sandbox lives after it was last used; 0 means 10 minutes. It is 24 hours at
	// most, and less where the account's plan says so.
	TTL time.Duration
	// AutoPause pauses the sandbox of a session when its TTL is over, instead of destroying it. The
	// next call resumes it. Paused sandboxes are kept until they are closed.
	AutoPause bool

	// Env is added to the functions' environment.
	Env map[string]string
	// Metadata is added to what sandboxes are labelled with.
	Metadata map[string]string

	// AllowPublicTraffic lets anybody reach the ports of a sandbox through their public addresses.
	AllowPublicTraffic bool
	// Network says what a sandbox may reach; all of the internet by default.
	Network Network

	// Domain, APIURL and SandboxURL are for other servers than E2B's cloud. Empty means the
	// variables E2B_DOMAIN, E2B_API_URL and E2B_SANDBOX_URL.
	Domain, APIURL, SandboxURL string
	// HTTPClient sends the requests; a client without a timeout that uses http.DefaultTransport if
	// nil.
	HTTPClient HTTPClient

	// Build chooses how the runner is compiled.
	Build driver.Build
}

var (
	_ driver.Pausable = Backend{}
	_ driver.Imager   = Backend{}
)

// Name implements driver.Backend.
func (Backend) Name() string { return name }

const name = "e2b"

// PauseSemantics implements driver.Pausable: processes go on where they were.
func (Backend) PauseSemantics() driver.PauseSemantics { return driver.PauseSuspend }
