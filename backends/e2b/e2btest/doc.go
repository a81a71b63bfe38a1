// Package e2btest is an E2B for tests: a server that speaks the control plane
// of E2B and envd, the agent inside its sandboxes, and really runs what it is
// asked to run. Use it as net/http/httptest is used:
//
//	srv := e2btest.New(t, e2btest.Config{})
//	backend := e2b.Backend{APIKey: e2b.Secret(srv.Key), APIURL: srv.APIURL(), SandboxURL: srv.SandboxURL()}
//
// The official SDKs work against it too, with E2B_API_KEY, E2B_API_URL and
// E2B_SANDBOX_URL; this package's own tests hold it to that.
//
// # What is real
//
// Sandboxes, their states, lifetimes and limits; template builds with their
// steps, uploads, tags and failures; processes with their signals, pipes and
// terminals; files; pausing, which stops every process; snapshots of files.
//
// As root on Linux every sandbox has a root directory, process numbers and a
// host name of its own. /usr is a private, writable copy of the host's, so every
// image has the host's programs, and every absolute path belongs to the sandbox.
// Without the right to do that (see [Server.Isolation]) a sandbox is a
// directory: requests may name it /home/user, commands find it in $HOME, and all
// other paths are the host's, so a template can copy below /home/user only.
// Neither is a protection: run code that you trust. On other systems than Linux
// [Start] fails with [errors.ErrUnsupported].
//
// # What is not
//
// Images are not pulled: each is the host's /usr. Sandboxes share the host's
// network unless [Config.PrivateNetwork] is set; egress rules are checked and
// kept, but not applied. A process can't be copied, so a template's start command
// is started again in each sandbox, and a fork or a snapshot has the files only.
// Metrics are the host's.
package e2btest
