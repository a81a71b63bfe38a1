//go:build !remotebox_runner

package daytonatest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// stage is one FROM of a build: a machine in which the lines that follow are executed.
type stage struct {
	name string
	disk string
	m    machine
	img  image
	vars map[string]string // ARG and ENV
}

// build is a build under way.
type build struct {
	srv     *Server
	ctx     context.Context
	log     *logBuffer
	dir     string // everything it makes
	context string
	global  map[string]string // ARG before the first FROM
	stages  []*stage
}

// buildImage executes a Dockerfile. Its errors read as the service's errorReason does.
func (s *Server) buildImage(ctx context.Context, info *buildInfo) (_ *image, err error) {
	b := &build{srv: s, ctx: ctx, log: info.log, dir: filepath.Join(s.dir, "images", newUUID()), global: map[string]string{}}
	b.context = filepath.Join(b.dir, "context")
	if err := os.MkdirAll(b.context, 0o755); err != nil {
		return nil, err
	}
	defer func() {
		for _, st := range b.stages {
			st.m.kill()
		}
		keep := len(b.stages) - 1
		for i, st := range b.stages {
			if err != nil || i != keep {
				_ = os.RemoveAll(st.disk)
			}
		}
		_ = os.RemoveAll(b.context)
	}()
	for _, hash := range info.Hashes {
		if err := s.mergeContext(b.context, hash); err != nil {
			return nil, err
		}
	}
	lines, err := parseDockerfile(info.Dockerfile)
	if err != nil {
		return nil, err
	}
	for i, in := range lines {
		fmt.Fprintf(b.log, "Step %d/%d : %s\n", i+1, len(lines), in.text())
		if err := b.step(in); err != nil {
			return nil, err
		}
	}
	st := b.current()
	fmt.Fprintf(b.log, "Successfully tagged %s\n", info.ref)
	img := st.img
	img.ref, img.layers = info.ref, []string{st.disk}
	return &img, nil
}

func (b *build) current() *stage {
	if len(b.stages) == 0 {
		return nil
	}
	return b.stages[len(b.stages)-1]
}

func (b *build) step(in instruction) error {
	if err := context.Cause(b.ctx); err != nil {
		return err
	}
	st := b.current()
	if st == nil {
		if in.name == "ARG" {
			k, v, _ := strings.Cut(in.rest, "=")
			b.global[k] = strings.Trim(v, `"'`)
			return nil
		}
		return b.from(in)
	}
	switch in.name {
	case "FROM":
		return b.from(in)
	case "RUN":
		return b.run(st, in)
	case "COPY", "ADD":
		return b.copy(st, in)
	case "ENV":
		for _, kv := range pairs(in.rest) {
			v := expand(kv[1], st.vars)
			st.vars[kv[0]] = v
			st.img.env = mergeEnv(st.img.env, []string{kv[0] + "=" + v})
		}
	case "ARG":
		k, v, given := strings.Cut(in.rest, "=")
		if global, ok := b.global[k]; ok && !given {
			v = global
		}
		st.vars[k] = expand(strings.Trim(v, `"'`), st.vars)
	case "WORKDIR":
		dir := inDir(st.workdir(), expand(in.rest, st.vars))
		st.img.workdir = dir
		who, err := b.srv.account(st.m, st.img.user)
		if err != nil {
			return err
		}
		return makeDirs(st.m, who, dir, 0o755)
	case "USER":
		st.img.user = expand(in.rest, st.vars)
	case "ENTRYPOINT":
		st.img.entrypoint = in.exec
		if in.exec == nil {
			st.img.entrypoint = []string{"/bin/sh", "-c", in.rest}
		}
	}
	return nil
}

func (st *stage) workdir() string {
	if st.img.workdir == "" {
		return "/"
	}
	return st.img.workdir
}

func (b *build) from(in instruction) error {
	words := strings.Fields(expand(in.rest, b.global))
	if len(words) == 0 {
		return errors.New("FROM requires either one or three arguments")
	}
	st := &stage{vars: maps.Clone(b.global)}
	if len(words) == 3 {
		st.name = words[2]
	}
	spec := machineSpec{id: "build-" + newUUID()}
	if base := b.stage(words[0]); base != nil {
		st.img, st.vars = base.img, maps.Clone(base.vars)
		// What the base becomes after this line is not seen, because no line follows for it.
		spec.layers = append([]string{base.disk}, base.img.layers...)
		st.img.layers = spec.layers
	} else if err := b.srv.pull(words[0]); err != nil {
		return err
	}
	st.disk = filepath.Join(b.dir, "stage-"+strconv.Itoa(len(b.stages)))
	spec.disk = st.disk
	m, err := b.srv.system.machine(spec)
	if err != nil {
		return err
	}
	st.m = m
	b.stages = append(b.stages, st)
	return nil
}

func (b *build) stage(name string) *stage {
	for i, st := range b.stages {
		if name != "" && (st.name == name || strconv.Itoa(i) == name) {
			return st
		}
	}
	return nil
}

func (b *build) run(st *stage, in instruction) error {
	argv := in.exec
	switch {
	case in.here != "":
		argv = []string{"/bin/sh", "-e", "-c", in.here}
	case argv == nil:
		argv = []string{"/bin/sh", "-c", in.rest}
	}
	who, err := b.srv.account(st.m, st.img.user)
	if err != nil {
		return err
	}
	env := []string{"PATH=" + defaultPath, "HOME=" + who.home, "DAYTONA_SANDBOX_ID=" + filepath.Base(b.dir)}
	for k, v := range st.vars {
		env = append(env, k+"="+v)
	}
	shown := strings.Join(argv, " ")
	if !path.IsAbs(argv[0]) {
		argv = append([]string{"/usr/bin/env"}, argv...)
	}
	out, err := runIn(b.ctx, st.m, who, argv, st.workdir(), mergeEnv(env, st.img.env))
	_, _ = b.log.Write(out)
	if err != nil && b.ctx.Err() == nil {
		return fmt.Errorf("unprocessable entity: The command '%s' returned a non-zero code: %d", shown, exitCode(err))
	}
	return err
}
