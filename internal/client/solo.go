package client

import (
	"context"
	"errors"
	"os"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/rand"
	"github.com/remote-box/remote/internal/wire"
)

// Solo makes a sandbox's only call in one process, without a supervisor: it costs what starting
// the process costs.
func Solo(ctx context.Context, sb driver.Local, c *Call) (*Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id, nonce := newID(), rand.Text(26)
	req := c.request(ctx)
	req.Once = true
	req.File = c.Input.Path
	req.OutFile = callproc.OutFile(sb.StateDir(), id)
	stderr, stdout := &tail{w: c.Stderr}, &head{w: c.Stdout}
	r, err := callproc.Run(ctx, &callproc.Call{
		ID: id, Nonce: nonce, Request: req, Input: c.Input.Data,
		Stdout: stdout, Stderr: stderr, MaxResult: c.MaxResult,
	}, func(files []*os.File) (driver.Process, error) {
		return sb.Spawn(&driver.Command{
			Args: []string{driver.RunnerArg},
			Env:  []string{callproc.EnvMode + "=" + callproc.ModeCall, callproc.EnvNonce + "=" + nonce},
		}, files)
	}, nil)
	if err != nil {
		return nil, err
	}
	if v, ok := errors.AsType[*VersionError](r.Broken); ok {
		return nil, v
	}
	reply := &Reply{
		Response: r.Response, Broken: r.Broken, Data: r.Data, Status: r.Status, Late: r.Late,
		Stderr: stderr.bytes(), Raw: append(stdout.bytes(), stderr.bytes()...),
	}
	return reply, reply.takeFile(req.OutFile, c.MaxResult)
}

// takeFile fills in Path for a result in a file. A bad one becomes Broken; only a result over the
// limit is an error.
func (r *Reply) takeFile(path string, limit int64) error {
	if r.Response == nil || !r.Response.InFile {
		return nil
	}
	if limit > 0 && r.Response.Size > limit {
		return &callproc.TooLarge{Size: r.Response.Size, Limit: limit}
	}
	if err := takeFile(path, r.Response.Size, limit); err != nil {
		var frame *wire.FrameError
		if errors.As(err, &frame) {
			r.Response, r.Broken = nil, err
			return nil
		}
		return err
	}
	r.Path = path
	return nil
}
