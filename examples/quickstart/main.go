// The quickstart: one file, one typed function, one call in a process of its own.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/remote-box/remote"
)

type GreetInput struct {
	Name string `json:"name"`
}

type GreetOutput struct {
	Greeting string `json:"greeting"`
}

// greet runs in the sandbox.
func greet(ctx context.Context, in GreetInput) (GreetOutput, error) {
	return GreetOutput{Greeting: "Hello " + in.Name + "!"}, nil
}

var Greet = remote.New(greet)

func main() {
	out, err := Greet.Call(context.Background(), GreetInput{Name: "World"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.Greeting)
}
