// Daytona: work that waits for somebody. A session collects something, is paused while a person
// decides, costing no CPU and no memory, and goes on from its ref, as it would in another process
// days later.
//
//	go run ./examples/daytona
//
// With DAYTONA_API_KEY set the program uses Daytona, or the server that DAYTONA_API_URL names.
// Without it, and saying so, it starts a server of its own, package daytonatest, or runs on this
// host where that can't be had: no call ever moves there by itself.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/daytona"
)

type Finding struct {
	Text string `json:"text"`
}

type Report struct {
	Lines []string `json:"lines"`
}

// collect runs in the sandbox and adds to a file there.
func collect(_ context.Context, in Finding) (Report, error) {
	f, err := os.OpenFile("findings.txt", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return Report{}, err
	}
	defer f.Close()
	if _, err := fmt.Fprintln(f, in.Text); err != nil {
		return Report{}, err
	}
	return report(context.Background(), struct{}{})
}

// report reads the file back.
func report(context.Context, struct{}) (Report, error) {
	f, err := os.Open("findings.txt")
	if err != nil {
		return Report{}, err
	}
	defer f.Close()
	var r Report
	for lines := bufio.NewScanner(f); lines.Scan(); {
		r.Lines = append(r.Lines, lines.Text())
	}
	return r, nil
}

var (
	Collect = remote.New(collect, remote.Timeout(time.Minute))
	Fetch   = remote.New(report, remote.Timeout(time.Minute))
)

func backend() (b remote.Backend, stop func()) {
	if os.Getenv("DAYTONA_API_KEY") == "" {
		return local()
	}
	return daytona.Backend{
		SnapshotName: "remote-box-example",
		AutoStop:     5 * time.Minute,     // if this program dies
		KeepPaused:   14 * 24 * time.Hour, // how long somebody may take to decide
		Labels:       map[string]string{"example": "daytona"},
	}, func() {}
}

func run(ctx context.Context) error {
	b, stop := backend()
	defer stop()
	s := remote.NewSession(b)
	defer s.Close(ctx)
	for _, text := range []string{"the door is open", "the light is on"} {
		if _, err := Collect.Call(s.Context(ctx), Finding{text}); err != nil {
			return err
		}
	}
	ref, err := s.Pause(ctx)
	if err != nil {
		return err
	}
	kept, err := json.Marshal(ref) // for a database, until somebody has decided
	if err != nil {
		return err
	}
	var found remote.SessionRef
	if err := json.Unmarshal(kept, &found); err != nil {
		return err
	}
	again, err := remote.Resume(ctx, found, b)
	if err != nil {
		return err
	}
	r, err := Fetch.Call(again.Context(ctx), struct{}{})
	if err != nil {
		return err
	}
	for i, line := range r.Lines {
		fmt.Println(i+1, line)
	}
	return nil
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
