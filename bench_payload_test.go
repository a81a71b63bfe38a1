package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/subprocess"
)

// payloadSize is how much goes in, and how much comes out.
const payloadSize = 64 << 20

type blob struct{ Text string }

var echoBlob = remote.New(func(_ context.Context, in blob) (blob, error) { return in, nil }, remote.Name("echoBlob"))

func newBlob() blob {
	const line = "{\"a line\": \"of text as programs send it, with what JSON escapes\"}\n"
	return blob{strings.Repeat(line, payloadSize/len(line)+1)[:payloadSize]}
}

const (
	// echoVariable makes the test program one that copies a JSON value from stdin to stdout.
	echoVariable = "REMOTE_TEST_ECHO"
	// peakVariable makes TestPayloadPeak measure what a call costs a process of its own.
	peakVariable = "REMOTE_TEST_PEAK"
)

var _ = echo()

func echo() bool {
	if os.Getenv(echoVariable) == "" {
		return false
	}
	var v blob
	if err := json.NewDecoder(os.Stdin).Decode(&v); err != nil {
		panic(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
		panic(err)
	}
	os.Exit(0)
	return true
}

// throughPipe is the limit: encoding/json at both ends of a plain pipe.
func throughPipe(in blob) (out blob, err error) {
	exe, err := os.Executable()
	if err != nil {
		return out, err
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), echoVariable+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return out, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return out, err
	}
	if err := cmd.Start(); err != nil {
		return out, err
	}
	if err := json.NewEncoder(stdin).Encode(in); err != nil {
		return out, err
	}
	if err := json.NewDecoder(stdout).Decode(&out); err != nil {
		return out, err
	}
	return out, cmd.Wait()
}

// payloadContext is one for calls in a session, or without one.
func payloadContext(tb testing.TB, kind string) context.Context {
	tb.Helper()
	if kind != "session" {
		return tb.Context()
	}
	s := remote.NewSession(subprocess.Backend{})
	tb.Cleanup(func() { s.Close(context.Background()) })
	if err := s.Start(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return s.Context(tb.Context())
}

// BenchmarkPayload sends 64 MiB and gets them back. pipe-ratio is the throughput beside that of
// encoding/json at both ends of a plain pipe; peak-ratio is the memory that a process took for the
// call, its input and its output included, beside the payload.
//
//	go test -run '^$' -bench Payload .
func BenchmarkPayload(b *testing.B) {
	in := newBlob()
	pipe := time.Hour
	b.Run("pipe", func(b *testing.B) {
		b.SetBytes(2 * payloadSize)
		for b.Loop() {
			began := time.Now()
			if out, err := throughPipe(in); err != nil || out != in {
				b.Fatal(err)
			}
			pipe = min(pipe, time.Since(began))
		}
	})
	for _, kind := range []string{"one-shot", "session"} {
		b.Run(kind, func(b *testing.B) {
			ctx := payloadContext(b, kind)
			b.SetBytes(2 * payloadSize)
			best := time.Hour
			for b.Loop() {
				began := time.Now()
				if out, err := echoBlob.Call(ctx, in); err != nil || out != in {
					b.Fatal(err)
				}
				best = min(best, time.Since(began))
			}
			b.ReportMetric(float64(pipe)/float64(best), "pipe-ratio")
			b.ReportMetric(float64(peakOf(b, kind))/payloadSize, "peak-ratio")
		})
	}
}

// TestPayloadMemory keeps what a call with 64 MiB in and out takes within three times the payload.
func TestPayloadMemory(t *testing.T) {
	if testing.Short() || underRace() {
		t.Skip("the race detector keeps books about all memory")
	}
	for _, kind := range []string{"one-shot", "session"} {
		peak := peakOf(t, kind)
		if peak == 0 {
			t.Skip("this system does not tell what a process has taken")
		}
		t.Logf("%s: %d MiB, %.2f of the payload", kind, peak>>20, float64(peak)/payloadSize)
		if peak > 3*payloadSize {
			t.Errorf("%s: a call took %d MiB for a payload of %d MiB", kind, peak>>20, payloadSize>>20)
		}
	}
}

// peakOf measures a call in a process of its own.
func peakOf(tb testing.TB, kind string) int64 {
	tb.Helper()
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestPayloadPeak$", "-test.v")
	cmd.Env = append(os.Environ(), peakVariable+"="+kind)
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	_, rest, _ := strings.Cut(string(out), "peak: ")
	text, _, _ := strings.Cut(rest, " ")
	peak, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	return peak
}

func TestPayloadPeak(t *testing.T) {
	kind := os.Getenv(peakVariable)
	if kind == "" {
		t.Skip("a part of TestPayloadMemory")
	}
	ctx := payloadContext(t, kind)
	if _, err := echoBlob.Call(ctx, blob{"small"}); err != nil { // what a first call alone takes
		t.Fatal(err)
	}
	before := highWater(t)
	in := newBlob()
	out, err := echoBlob.Call(ctx, in)
	if err != nil || out != in {
		t.Fatal(err)
	}
	fmt.Printf("peak: %d \n", highWater(t)-before)
}

// highWater is the most memory that this process has had, from proc(5).
func highWater(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			kib, err := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	return 0
}

// underRace reports whether the race detector is compiled in.
func underRace() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
