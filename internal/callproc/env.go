// Package callproc is the parent's side of a call's process: the host's where a sandbox is local,
// a supervisor's elsewhere.
package callproc

import "github.com/remote-box/remote/internal/registry"

// The environment variables by which a program learns that it is to act as a runner. They are
// removed before a function runs.
const (
	// EnvMode names what the runner is to do, one of the modes below.
	EnvMode = registry.ModeVariable
	// EnvNonce is the nonce of the frames it reads and writes.
	EnvNonce = "REMOTE_BOX_NONCE"
	// EnvState is a directory for payloads and results.
	EnvState = "REMOTE_BOX_STATE"
	// EnvShared says that the host sees that directory too, so that large payloads stay in it.
	EnvShared = "REMOTE_BOX_SHARED"
	// EnvCall, EnvRequest and EnvInput are a call's id, its wire.Request as JSON, and its input
	// in base64, for ModeOnce.
	EnvCall    = "REMOTE_BOX_CALL_ID"
	EnvRequest = "REMOTE_BOX_REQUEST"
	EnvInput   = "REMOTE_BOX_INPUT"
	// EnvQuery is the wire.Query of a host that asks for a call's rest, as JSON, for ModeResult and
	// ModeCancel. Without it no output is sent.
	EnvQuery = "REMOTE_BOX_QUERY"
	// EnvReport is the file that ModeList writes.
	EnvReport = "REMOTE_BOX_REPORT"
)

// The modes of a runner.
const (
	ModeCall   = "call"   // run one function: request on descriptor 3, result on 4
	ModeServe  = "serve"  // supervise a sandbox: frames on stdin and stdout
	ModeInit   = "init"   // supervise a sandbox as its first process, which outlives its connections
	ModeAttach = "attach" // join stdin and stdout to the supervisor that is the first process
	ModeKill   = "kill"   // end the processes whose proc.CallTag is EnvCall
	ModeOnce   = "once"   // make one call that the environment describes, frames on stdout
	ModeResult = "result" // send the result of an earlier ModeOnce again
	ModeCancel = "cancel" // end the call of an earlier ModeOnce
	ModeDrain  = "drain"  // read descriptors 3 and 4 until nobody can write to them
	ModeList   = "list"   // write the registered functions to a file
)

// Files of the state directory.
const (
	// OutDir holds results, under their call ids.
	OutDir = "out"
	// InDir holds inputs.
	InDir = "in"
	// ClaimDir holds an empty file for every call id that was accepted.
	ClaimDir = "claims"
)
