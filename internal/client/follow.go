package client

import (
	"context"
	"errors"
	"io"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/wire"
)

// follow listens again to a runner whose connection broke, so that what the function prints goes on
// arriving. Of what was said meanwhile nothing is known: unless the whole answer comes, it is *Lost,
// and the result is to be asked for.
func (o *once) follow(ctx context.Context, id string, broken *driver.BrokenStream) (*Reply, error) {
	r, w := io.Pipe()
	a := &answer{call: o.call, stdout: o.stdout, stderr: o.stderr, greeted: true}
	read := make(chan error, 1)
	go func() {
		read <- collect(wire.NewReader(r, o.nonce, &head{}), id, a)
		io.Copy(io.Discard, r) // so that the process can end
	}()
	_, err := broken.Follow(ctx, w, &tail{})
	w.Close()
	said := <-read
	r.Close()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if said == nil && a.resp != nil && !a.resp.InFile {
		return a.reply()
	}
	return nil, &Lost{Err: errors.Join(broken.Err, err)}
}
