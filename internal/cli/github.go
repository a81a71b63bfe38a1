package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/remote-box/remote/internal/build"
	"github.com/remote-box/remote/internal/hostmode"
)

// github adds annotations for GitHub Actions, which reads them from standard error as well, to
// another output.
type github struct {
	output
	w io.Writer
}

func (g *github) image(i *hostmode.Image, changes []string) {
	g.output.image(i, changes)
	switch {
	case i.Failure == nil:
	case i.Status == statusMissing:
		g.annotate("", 0, 0, "image would be built", i.Backend+" "+i.Image+": "+strings.Join(i.Functions, " "))
	case i.Failure.Line > 0:
		g.annotate(i.Failure.What, i.Failure.Line, 0, "image failed", i.Failure.Message)
	default:
		g.annotate("", 0, 0, "image failed", i.Backend+" "+imageName(i)+": "+i.Failure.Message)
	}
}

func (g *github) program(err error) {
	g.output.program(err)
	if p, ok := errors.AsType[*programError](err); ok {
		g.annotate(p.file, p.line, 0, "package initialisation", p.program+": "+p.reason)
	}
}

func (g *github) broken(b build.BrokenPackage) {
	g.output.broken(b)
	for _, p := range b.Problems {
		g.annotate(p.File, p.Line, p.Column, b.Package+" does not compile", p.Message)
	}
}

func (g *github) failure(what string, err error) {
	g.output.failure(what, err)
	g.annotate("", 0, 0, "remote-box", err.Error())
}

// annotate writes one annotation. Files are named from the workspace.
func (g *github) annotate(file string, line, column int, title, message string) {
	var props []string
	if file != "" {
		if rel, err := filepath.Rel(os.Getenv("GITHUB_WORKSPACE"), file); err == nil && filepath.IsLocal(rel) {
			file = filepath.ToSlash(rel)
		}
		props = append(props, "file="+escapeProperty(file))
		if line > 0 {
			props = append(props, fmt.Sprintf("line=%d", line))
		}
		if column > 0 {
			props = append(props, fmt.Sprintf("col=%d", column))
		}
	}
	props = append(props, "title="+escapeProperty(title))
	fmt.Fprintf(g.w, "::error %s::%s\n", strings.Join(props, ","), escapeData(message))
}

func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeData(s))
}
