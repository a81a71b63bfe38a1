// A session: what one call writes the next one reads, also after a pause, and in another process.
//
// Without arguments the program starts a session, pauses it and starts itself again with the
// session's ref, as a worker elsewhere would be given it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/subprocess"
)

type Note struct {
	Text string `json:"text"`
}

type Notes struct {
	Lines string `json:"lines"`
}

// add appends to a file in the sandbox's working directory.
func add(ctx context.Context, in Note) (Notes, error) {
	f, err := os.OpenFile("notes.txt", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return Notes{}, err
	}
	defer f.Close()
	if _, err := fmt.Fprintln(f, in.Text); err != nil {
		return Notes{}, err
	}
	return read(ctx, struct{}{})
}

func read(context.Context, struct{}) (Notes, error) {
	b, err := os.ReadFile("notes.txt")
	return Notes{Lines: string(b)}, err
}

var (
	Add  = remote.New(add)
	Read = remote.New(read)
)

var backend = subprocess.Backend{}

func main() {
	run := first
	if len(os.Args) > 1 {
		run = func(ctx context.Context) error { return second(ctx, []byte(os.Args[1])) }
	}
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// first writes, pauses, and hands the session over.
func first(ctx context.Context) error {
	s := remote.NewSession(backend)
	if _, err := Add.Call(s.Context(ctx), Note{"written by the first process"}); err != nil {
		return err
	}
	fmt.Println("a pause keeps:", s.PauseSemantics())
	ref, err := s.Pause(ctx)
	if err != nil {
		return err
	}
	data, err := json.Marshal(ref) // a few bytes, no secrets: store it anywhere
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, string(data))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// second finds the session again and destroys it when it is done.
func second(ctx context.Context, data []byte) error {
	var ref remote.SessionRef
	if err := json.Unmarshal(data, &ref); err != nil {
		return err
	}
	s, err := remote.Resume(ctx, ref, backend)
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	if _, err := Add.Call(s.Context(ctx), Note{"and by the second"}); err != nil {
		return err
	}
	notes, err := Read.Call(s.Context(ctx), struct{}{})
	if err != nil {
		return err
	}
	fmt.Print(notes.Lines)
	return nil
}
