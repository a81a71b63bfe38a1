package cli

import (
	"os"

	"github.com/remote-box/remote/internal/build"
	"github.com/remote-box/remote/internal/hostmode"
)

// output shows people, machines or GitHub what happens in a build.
type output interface {
	building(i *hostmode.Image)
	log(i *hostmode.Image, text []byte)
	image(i *hostmode.Image, changes []string)
	program(err error) // a program did not answer
	broken(p build.BrokenPackage)
	failure(what string, err error)
	note(text string)
	sum(images []*hostmode.Image, lock string, code int)
}

func (a *app) newOutput() output {
	var out output = &plain{app: a}
	if a.json {
		out = &events{app: a}
	}
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		return &github{output: out, w: a.stderr}
	}
	return out
}
