package cli

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/remote-box/remote/internal/build"
	"github.com/remote-box/remote/internal/hostmode"
)

// events is the output for machines: JSON objects, one a line, on stdout. Each has an "event";
// fields may come, none will go or change its meaning.
type events struct{ *app }

// event is one of these lines.
type event struct {
	Event     string         `json:"event"`
	Status    string         `json:"status,omitempty"`
	Program   string         `json:"program,omitempty"`
	Backend   string         `json:"backend,omitempty"`
	Image     string         `json:"image,omitempty"`
	Local     bool           `json:"local,omitempty"`
	Functions []string       `json:"functions,omitempty"`
	Seconds   *float64       `json:"seconds,omitempty"`
	Changes   []string       `json:"changes,omitempty"`
	Text      string         `json:"text,omitempty"`
	Error     *eventError    `json:"error,omitempty"`
	Package   string         `json:"package,omitempty"`
	Problems  []eventProblem `json:"problems,omitempty"`
	Counts    map[string]int `json:"counts,omitempty"`
	Lock      string         `json:"lock,omitempty"`
	Exit      *int           `json:"exit,omitempty"`
}

type eventError struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

type eventProblem struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

func printJSON(w io.Writer, v any) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.Encode(v) // of plain data, to a writer whose errors nobody can be told of
}

func (e *events) building(i *hostmode.Image) {
	printJSON(e.stdout, &event{Event: "building", Program: i.Program, Backend: i.Backend, Image: i.Image, Functions: i.Functions})
}

func (e *events) log(i *hostmode.Image, text []byte) {
	printJSON(e.stdout, &event{Event: "log", Backend: i.Backend, Image: i.Image, Text: string(text)})
}

func (e *events) image(i *hostmode.Image, changes []string) {
	ev := &event{
		Event: "image", Status: i.Status, Program: i.Program, Backend: i.Backend, Image: i.Image, Local: i.Local,
		Functions: i.Functions, Seconds: &i.Seconds, Changes: changes,
	}
	if i.Failure != nil {
		ev.Error = &eventError{i.Failure.Kind, i.Failure.Message}
	}
	printJSON(e.stdout, ev)
}

func (e *events) program(err error) {
	ev := &event{Event: "program", Error: &eventError{hostmode.FailedOther, err.Error()}}
	if p, ok := errors.AsType[*programError](err); ok {
		ev.Program = p.program
		if p.file != "" {
			ev.Problems = []eventProblem{{File: p.file, Line: p.line, Message: p.reason}}
		}
	}
	printJSON(e.stdout, ev)
}

func (e *events) broken(b build.BrokenPackage) {
	ev := &event{Event: "package", Package: b.Package}
	for _, p := range b.Problems {
		ev.Problems = append(ev.Problems, eventProblem{p.File, p.Line, p.Column, p.Message})
	}
	printJSON(e.stdout, ev)
}

func (e *events) failure(what string, err error) {
	printJSON(e.stdout, &event{Event: "error", Backend: what, Error: &eventError{hostmode.FailedOther, err.Error()}})
}

func (e *events) note(text string) { printJSON(e.stdout, &event{Event: "note", Text: text}) }

func (e *events) sum(images []*hostmode.Image, lock string, code int) {
	counts := map[string]int{}
	for _, i := range images {
		counts[i.Status]++
	}
	printJSON(e.stdout, &event{Event: "end", Counts: counts, Lock: lock, Exit: &code})
}
