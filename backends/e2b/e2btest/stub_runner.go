//go:build remotebox_runner

package e2btest

import (
	"errors"
	"time"
)

// errInRunner is what a program gets that starts a server where its functions run.
var errInRunner = errors.New("e2btest: a runner has no server: start it in the program's main function or in a test, which runners never run")

// Config stands for a server's settings. A runner does without packages log/slog and net/http, whose
// types are any here and below.
type Config struct {
	Host, Key, Dir                        string
	OldServer, Unconfined, PrivateNetwork bool
	MaxSandboxes, MaxBuilds, CreateRate   int
	MaxTimeout, Latency                   time.Duration
	DefaultReadyCommand                   string
	Logger                                any
}

type (
	Plane string
	Reset int
	State string
)

const (
	PlaneAPI     Plane = "api"
	PlaneSandbox Plane = "sandbox"

	Running State = "running"
	Paused  State = "paused"
)

const (
	ResetNever Reset = iota
	ResetBefore
	ResetAfter
	ResetMeanwhile
)

// Fault stands for something that goes wrong.
type Fault struct {
	Plane               Plane
	Method, Path        string
	SandboxID, Body     string
	Skip, Times, Status int
	Delay               time.Duration
	Unaware             bool
	Header              any
	Reset               Reset
	CutAfter            int64
}

func TooManyRequests(string) Fault { return Fault{} }

// Injection stands for a fault in effect.
type Injection struct{}

func (*Injection) Hits() int { panic(errInRunner) }
func (*Injection) Remove()   { panic(errInRunner) }
func (*Injection) Wait()     { panic(errInRunner) }

// header stands for an http.Header.
type header map[string][]string

func (header) Get(string) string      { panic(errInRunner) }
func (header) Values(string) []string { panic(errInRunner) }

// Request stands for a request that reached a server.
type Request struct {
	Time                           time.Time
	Plane                          Plane
	Method, Path, Query, SandboxID string
	Header                         header
	Body                           []byte
	Status                         int
}

// Sandbox stands for what a server knows of a sandbox.
type Sandbox struct {
	ID, TemplateID   string
	State            State
	Metadata         map[string]string
	StartedAt, EndAt time.Time
}

// TB is what New needs of a *testing.T.
type TB interface {
	Helper()
	Fatal(...any)
	Cleanup(func())
}

// Server stands for a server: there are none in a runner.
type Server struct{ Key string }

// Start returns an error.
func Start(Config) (*Server, error) { return nil, errInRunner }

// New fails the test.
func New(t TB, _ Config) *Server {
	t.Fatal(errInRunner)
	return nil
}

func (*Server) APIURL() string             { panic(errInRunner) }
func (*Server) SandboxURL() string         { panic(errInRunner) }
func (*Server) Isolation() string          { panic(errInRunner) }
func (*Server) Close() error               { panic(errInRunner) }
func (*Server) Inject(Fault) *Injection    { panic(errInRunner) }
func (*Server) Requests() []Request        { panic(errInRunner) }
func (*Server) ResetRequests()             { panic(errInRunner) }
func (*Server) Sandboxes() []Sandbox       { panic(errInRunner) }
func (*Server) SetLatency(time.Duration)   { panic(errInRunner) }
func (*Server) PauseSandbox(string) error  { panic(errInRunner) }
func (*Server) KillSandbox(string) error   { panic(errInRunner) }
func (*Server) ExpireSandbox(string) error { panic(errInRunner) }
