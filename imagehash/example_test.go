package imagehash_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/remote-box/remote/imagehash"
)

// Why is there a new image? The summary of the old context, kept in a lock file, has the answer.
func ExampleDiff() {
	root, err := os.MkdirTemp("", "context")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	save := func(name, content string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	save(".dockerignore", "*.log\n")
	save("main.go", "package main\n")
	before, err := imagehash.Walk(context.Background(), root, imagehash.Options{})
	if err != nil {
		log.Fatal(err)
	}

	save("build.log", "ignored\n")
	save(".env", "TOKEN=secret\n")
	after, err := imagehash.Walk(context.Background(), root, imagehash.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("same image:", before.Digest() == after.Digest())
	fmt.Println("withheld:", after.Withheld())

	save("main.go", "package main // changed\n")
	save("go.mod", "module example\n")
	after, err = imagehash.Walk(context.Background(), root, imagehash.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("same image:", before.Digest() == after.Digest())
	for _, change := range imagehash.Diff(before.Summary(), after.Summary()) {
		fmt.Println(change)
	}
	// Output:
	// same image: true
	// withheld: [.env]
	// same image: false
	// added go.mod
	// changed main.go (content)
}
