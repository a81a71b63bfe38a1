// E2B: code that nobody has read runs in a microVM of its own, without a network.
//
// With a key for E2B, in E2B_API_KEY or in ~/.config/e2b/api_key, the program uses E2B, or the server
// that E2B_API_URL names. Only where there is no key at all it runs on this host, and says so: no call
// ever moves there by itself.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/e2b"
	"github.com/remote-box/remote/backends/subprocess"
)

// Script is a shell script, as a model might write one.
type Script struct {
	Text string `json:"text"`
}

type Result struct {
	Output string `json:"output"`
	Code   int    `json:"code"`
}

// run runs in the sandbox.
func run(ctx context.Context, in Script) (Result, error) {
	out, err := exec.CommandContext(ctx, "/bin/sh", "-c", in.Text).CombinedOutput()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return Result{Output: string(out), Code: e.ExitCode()}, nil
	}
	return Result{Output: string(out)}, err
}

var Run = remote.New(run, remote.Timeout(time.Minute))

var microVM = e2b.Backend{
	TemplatePrefix: "remote-box-example",
	TTL:            2 * time.Minute,
	Metadata:       map[string]string{"example": "e2b"},
	// What the scripts may reach: nothing.
	Network: e2b.Network{DenyOut: []string{e2b.AllTraffic}},
}

func main() {
	err := scripts(microVM)
	// The backend has looked wherever a key may be. One that is empty or refused is a mistake, and no
	// leave to run scripts here.
	if key, ok := errors.AsType[*remote.CredentialError](err); ok && key.Reason == "missing" {
		fmt.Fprintln(os.Stderr, "there is no key for E2B: running on this host")
		err = scripts(subprocess.Backend{})
	}
	if err != nil {
		log.Fatal(err)
	}
}

func scripts(b remote.Backend) error {
	return remote.WithSession(context.Background(), b, func(ctx context.Context) error {
		for _, script := range []string{
			"echo 6 7 > numbers",
			"read a b < numbers; echo $((a * b))", // files last from call to call
			"echo this goes wrong >&2; exit 3",    // which is a result like any other
		} {
			r, err := Run.Call(ctx, Script{script})
			if err != nil {
				return err
			}
			fmt.Printf("%d %s\n", r.Code, strings.TrimSpace(r.Output))
		}
		return nil
	})
}
