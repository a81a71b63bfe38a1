package client

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
)

// stateDir is where runners keep results in sandboxes whose files can be read from here: the host
// decides where it will read.
const stateDir = "/tmp/.remote-box-state"

// fetch brings a large result that the runner left in a file to a temporary file of this host, a
// piece at a time.
func (o *once) fetch(ctx context.Context, files driver.Files, id string, a *answer) (*Reply, error) {
	size, limit := a.resp.Size, a.call.MaxResult
	switch {
	case size < 0:
		return nil, &NotRunner{Reason: "a result of negative size"}
	case limit > 0 && size > limit:
		return nil, &callproc.TooLarge{Size: size, Limit: limit}
	}
	reply, err := a.reply()
	if err != nil {
		return nil, err
	}
	src, err := files.ReadFile(ctx, stateDir+"/"+callproc.OutDir+"/"+id)
	if err != nil {
		return nil, &Lost{Err: err}
	}
	defer src.Close()
	f, err := os.CreateTemp("", "remote-box-result-")
	if err != nil {
		return nil, err
	}
	n, err := io.Copy(f, io.LimitReader(src, size+1))
	if err != nil {
		err = &Lost{Err: err}
	} else if n != size {
		err = &NotRunner{Reason: "a result file of another size than announced"}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return nil, err
	}
	reply.Path = f.Name()
	return reply, nil
}
