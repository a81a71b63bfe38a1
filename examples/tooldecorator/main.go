// A framework's tools that happen to run in sandboxes. Whoever declares or calls a Tool never sees
// remote-box; a person approves each call before anything starts.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/remote-box/remote/examples/tooldecorator/agent"
)

type CountInput struct {
	Text string `json:"text"`
}

type CountOutput struct {
	Words int `json:"words"`
}

// count is the tool's author's code: a plain function.
func count(_ context.Context, in CountInput) (CountOutput, error) {
	return CountOutput{Words: len(strings.Fields(in.Text))}, nil
}

type DeleteInput struct {
	Path string `json:"path"`
}

func remove(_ context.Context, in DeleteInput) (struct{}, error) {
	return struct{}{}, fmt.Errorf("%s is not here", in.Path)
}

var (
	Count  = agent.NewTool("count_words", "Counts the words of a text.", count)
	Delete = agent.NewTool("delete_file", "Deletes a file.", remove)
)

func main() {
	// The person at the gate: lets everything through that deletes nothing.
	ctx := agent.WithApprover(context.Background(), func(tool, input string) bool {
		fmt.Printf("approve %s %s?\n", tool, input)
		return !strings.HasPrefix(tool, "delete")
	})
	answer, err := Count.Run(ctx, `{"text": "to be or not to be"}`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
	if _, err := Delete.Run(ctx, `{"path": "/etc/passwd"}`); !errors.Is(err, agent.ErrDenied) {
		log.Fatal("the gate did not hold: ", err)
	}
	fmt.Println("denied")
}
