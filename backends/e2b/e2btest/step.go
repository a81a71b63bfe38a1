//go:build !remotebox_runner

package e2btest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"strings"
)

// buildStep is the schema TemplateStep.
type buildStep struct {
	Type      string   `json:"type"`
	Args      []string `json:"args"`
	FilesHash string   `json:"filesHash"`
}

// worker executes the steps of one build.
type worker struct {
	build   *build
	machine *machine
	image   *image // as far as it is made
	userSet bool
	prefix  string // of log lines
	step    string
}

func (w *worker) execute(ctx context.Context, step buildStep) error {
	arg := func(i int) string {
		if i < len(step.Args) {
			return step.Args[i]
		}
		return ""
	}
	need := func(n int) error {
		if len(step.Args) < n {
			return fmt.Errorf("%s requires at least %d arguments", step.Type, n)
		}
		return nil
	}
	switch kind := strings.ToUpper(step.Type); kind {
	case "RUN":
		if err := need(1); err != nil {
			return err
		}
		return w.run(ctx, arg(0), arg(1))
	case "COPY", "ADD":
		if err := need(2); err != nil {
			return err
		}
		return w.copy(ctx, arg(0), arg(1), arg(2), arg(3), step.FilesHash)
	case "ENV", "ARG":
		if len(step.Args) == 0 || len(step.Args)%2 != 0 {
			return fmt.Errorf("%s requires pairs of a name and a value", step.Type)
		}
		for i := 0; i < len(step.Args); i += 2 {
			if err := w.setEnv(ctx, step.Args[i], step.Args[i+1]); err != nil {
				return err
			}
		}
		return nil
	case "USER":
		if err := need(1); err != nil {
			return err
		}
		if err := w.machine.envd.AddUser(arg(0), arg(1) == "true"); err != nil {
			return fmt.Errorf("failed to create user '%s': %w", arg(0), err)
		}
		w.image.user, w.userSet = arg(0), true
		return nil
	case "WORKDIR":
		if err := need(1); err != nil {
			return err
		}
		return w.setWorkdir(arg(0))
	default:
		return fmt.Errorf("command type %s is not implemented", kind)
	}
}

// shell runs a command as a step does and passes its output to the log.
func (w *worker) shell(ctx context.Context, user, command string) (status string, err error) {
	// A step's PATH ends with the standard directories.
	env := maps.Clone(w.image.env)
	if given, ok := env["PATH"]; ok {
		env["PATH"] = given + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
	return w.machine.envd.Run(ctx, user, w.image.workdir, command, env, func(stderr bool, text []byte) {
		level, name := "info", "[stdout]: "
		if stderr {
			level, name = "warn", "[stderr]: "
		}
		for line := range strings.Lines(string(text)) {
			w.build.log(level, w.step, w.prefix+name+strings.TrimRight(line, "\n"))
		}
	})
}

func (w *worker) run(ctx context.Context, command, user string) error {
	if user == "" {
		user = w.image.user
	}
	status, err := w.shell(ctx, user, command)
	if err != nil {
		return fmt.Errorf("failed to run command '%s': %w", command, err)
	}
	if status != "" {
		return fmt.Errorf("failed to run command '%s': %s", command, status)
	}
	return nil
}

// setEnv lets root's login shell, which has none of the image's variables, expand
// variables in the value, but no commands. All that is special between double
// quotes but $ is taken for what it is (E2B infra, commands/env).
func (w *worker) setEnv(ctx context.Context, name, value string) error {
	quoted := strings.NewReplacer(`\`, `\\`, "`", "\\`", "$(", "\\$(", `"`, `\"`).Replace(value)
	var out strings.Builder
	status, err := w.machine.envd.Run(ctx, "root", "", `printf "%s" "`+quoted+`"`, nil, func(stderr bool, text []byte) {
		if !stderr {
			out.Write(text)
		}
	})
	if err == nil && status != "" {
		err = errors.New(status)
	}
	if err != nil {
		return fmt.Errorf("failed to set environment variable '%s': %w", name, err)
	}
	w.image.env[name] = out.String()
	return nil
}

func (w *worker) setWorkdir(dir string) error {
	if !path.IsAbs(dir) && w.image.workdir != "" {
		dir = path.Join(w.image.workdir, dir)
	}
	dir, err := w.machine.envd.Resolve(dir, w.image.user)
	if err == nil {
		err = w.allowed(dir)
	}
	if err == nil {
		err = w.machine.envd.MakeDir(dir, w.image.user)
	}
	if err != nil {
		return fmt.Errorf("failed to set workdir: %w", err)
	}
	w.image.workdir = dir
	if !w.machine.jail.Confined() && strings.HasPrefix(dir, w.image.layers[0]) {
		w.image.workdir = strings.TrimPrefix(dir, filepath.Join(w.image.layers[0], "root")) // of each sandbox
	}
	return nil
}

// allowed refuses what a plain directory can't keep private.
func (w *worker) allowed(dir string) error {
	if w.machine.jail.Confined() || dir == "/" || strings.HasPrefix(dir, w.image.layers[0]) {
		return nil
	}
	return fmt.Errorf("%s: without root the test server has private paths below /home/user only", dir)
}
