// Package tasks holds the functions of the deployed program.
package tasks

import (
	"context"
	"strings"

	"github.com/remote-box/remote"
)

// count runs in the sandbox.
func count(_ context.Context, text string) (int, error) { return len(strings.Fields(text)), nil }

// Count counts words. With a backend that has images, such as
//
//	remote.On(e2b.Backend{TemplatePrefix: "my-project"})
//
// the program finds the one for it in its lock.
var Count = remote.New(count)
