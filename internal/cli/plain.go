package cli

import (
	"fmt"
	"path"
	"strings"

	"github.com/remote-box/remote/internal/build"
	"github.com/remote-box/remote/internal/hostmode"
)

// plain is the output for people: a line for each image on stdout, all else on stderr.
type plain struct {
	*app
	rest map[string]string // of builds whose last line is not whole yet
}

func (p *plain) building(i *hostmode.Image) {
	fmt.Fprintf(p.stderr, "building %s %s\n", i.Backend, i.Image)
}

// log shows whole lines, each with its image: builds run at once.
func (p *plain) log(i *hostmode.Image, text []byte) {
	if p.rest == nil {
		p.rest = map[string]string{}
	}
	key := i.Backend + " " + i.Image
	all := p.rest[key] + string(text)
	for {
		line, rest, ok := strings.Cut(all, "\n")
		if !ok {
			p.rest[key] = all
			return
		}
		fmt.Fprintf(p.stderr, "%s | %s\n", path.Base(i.Image), strings.TrimRight(line, "\r"))
		all = rest
	}
}

func (p *plain) image(i *hostmode.Image, changes []string) {
	p.flush(i)
	fmt.Fprintf(p.stdout, "%-13s  %-10s  %s  %s\n", "["+i.Status+"]", i.Backend, imageName(i), strings.Join(i.Functions, " "))
	for _, c := range changes {
		fmt.Fprintf(p.stdout, "    %s\n", c)
	}
	if i.Failure != nil && i.Status != statusMissing {
		p.errorf("%s %s: %s", i.Backend, imageName(i), i.Failure.Message)
	}
}

// flush shows a last line without an end.
func (p *plain) flush(i *hostmode.Image) {
	if p.rest[i.Backend+" "+i.Image] != "" {
		p.log(i, []byte("\n"))
	}
}

// imageName is an image's name, or what stands for it.
func imageName(i *hostmode.Image) string {
	switch {
	case i.Local:
		return "(local)"
	case i.Image == "":
		return "?"
	}
	return i.Image
}

func (p *plain) program(err error) { p.errorf("%v", err) }

func (p *plain) broken(b build.BrokenPackage) {
	if len(b.Problems) == 1 && b.Problems[0].File == "" {
		p.errorf("%s: %s", b.Package, b.Problems[0].Message)
		return
	}
	p.errorf("%s does not compile:", b.Package)
	for _, pr := range b.Problems {
		fmt.Fprintf(p.stderr, "    %s\n", problem(pr))
	}
	if b.Untidy {
		fmt.Fprintf(p.stderr, "    mend it with: %s\n", tidy)
	}
}

// problem is a problem as compilers print it.
func problem(p build.Problem) string {
	switch {
	case p.File == "":
		return p.Message
	case p.Line == 0:
		return fmt.Sprintf("%s: %s", short(p.File), p.Message)
	case p.Column == 0:
		return fmt.Sprintf("%s:%d: %s", short(p.File), p.Line, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", short(p.File), p.Line, p.Column, p.Message)
}

func (p *plain) failure(what string, err error) {
	if what != "" {
		what += ": "
	}
	p.errorf("%s%v", what, err)
}

func (p *plain) note(text string) { p.notef("%s", text) }

func (p *plain) sum(images []*hostmode.Image, lock string, _ int) {
	if lock != "" {
		fmt.Fprintf(p.stderr, "wrote %s\n", short(lock))
	}
	if len(images) > 0 {
		fmt.Fprintln(p.stderr, summary(images))
	}
}
