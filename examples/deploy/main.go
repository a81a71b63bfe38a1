// Deploy is a program that runs where its sources and the Go toolchain are not.
//
// On a backend with images, `remote-box build --lock remote-box.lock.json` makes them and writes
// down their names, and the program carries that lock. On the subprocess backend it is its own
// runner.
//
//	remote-box build --lock remote-box.lock.json
//	go build -o app . && scp app server:
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/examples/deploy/tasks"
	"github.com/remote-box/remote/runner"
)

//go:embed remote-box.lock.json
var lock []byte

func main() {
	runner.Main()
	if err := remote.UseLock(lock); err != nil {
		log.Fatal(err)
	}
	n, err := tasks.Count.Call(context.Background(), "to be or not to be")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n, "words")
}
