package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/subprocess"
)

// bareVariable makes the test program a bare one that reads an input from stdin, calls the
// function and writes its output to stdout: what a call would cost done by hand.
const bareVariable = "REMOTE_TEST_BARE"

func bare() {
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	var v greeting
	if err := json.Unmarshal(in, &v); err != nil {
		panic(err)
	}
	out, err := greet(context.Background(), v)
	if err != nil {
		panic(err)
	}
	b, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(b)
	os.Exit(0)
}

// BenchmarkCall compares a call with its limit: starting the same binary by hand.
//
//	go test -bench Call -count 5 .
func BenchmarkCall(b *testing.B) {
	in := greeting{"World"}
	b.Run("by-hand", func(b *testing.B) {
		exe, err := os.Executable()
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), bareVariable+"=1")
			input, err := json.Marshal(in)
			if err != nil {
				b.Fatal(err)
			}
			cmd.Stdin = bytes.NewReader(input)
			output, err := cmd.Output()
			if err != nil {
				b.Fatal(err)
			}
			var out greeted
			if err := json.Unmarshal(output, &out); err != nil || out.Greeting != "Hello World!" {
				b.Fatal(out, err)
			}
		}
	})
	b.Run("one-shot", func(b *testing.B) {
		for b.Loop() {
			if out, err := Greet.Call(b.Context(), in); err != nil || out.Greeting != "Hello World!" {
				b.Fatal(out, err)
			}
		}
	})
	b.Run("session", func(b *testing.B) {
		s := remote.NewSession(subprocess.Backend{})
		defer s.Close(b.Context())
		ctx := s.Context(b.Context())
		if err := s.Start(ctx); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if out, err := Greet.Call(ctx, in); err != nil || out.Greeting != "Hello World!" {
				b.Fatal(out, err)
			}
		}
	})
}
