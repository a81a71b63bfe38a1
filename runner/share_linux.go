package runner

import (
	"bufio"
	"io"
	"os"
	"sync"

	"github.com/remote-box/remote/internal/wire"
)

// share lets other runners listen at path to what a call prints, on behalf of a host whose connection
// to this one broke. unshare ends that, when all has been said. Where it can't be done, nobody listens:
// the output is kept with the result.
func share(path string, t *tape) (unshare func()) {
	var mu sync.Mutex
	var open []*os.File
	turns, over := 0, false
	stop, err := listen(path, func(f *os.File) {
		r := bufio.NewReader(f)
		nonce, err := readNonce(r)
		if err != nil {
			f.Close()
			return
		}
		q := wire.Query{}
		frame, err := wire.NewReader(r, nonce, nil).Next()
		if err != nil || frame.Kind != wire.KindQuery || frame.Decode(&q) != nil {
			f.Close()
			return
		}
		mu.Lock()
		open = append(open, f)
		turns++
		turn, late := turns, over
		mu.Unlock()
		if late {
			f.Close()
			return
		}
		t.resume(wire.NewWriter(f, nonce), turn, q)
	})
	if err != nil {
		return func() {}
	}
	return func() {
		stop()
		mu.Lock()
		defer mu.Unlock()
		over = true
		for _, f := range open {
			f.Close()
		}
	}
}

// relay listens to what a call prints, at path, as long as it runs, and passes it on to w. It counts in
// has what it has passed on.
func relay(path, nonce, call string, w *wire.Writer, has *wire.Query) {
	conn, err := connect(path)
	if err != nil {
		return // it runs no more, or does not share
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, nonce+"\n"); err != nil {
		return
	}
	if wire.NewWriter(conn, nonce).Message(wire.KindQuery, call, has) != nil {
		return
	}
	r := wire.NewReader(conn, nonce, nil)
	for {
		f, err := r.Next()
		if err != nil {
			return
		}
		switch f.Kind {
		case wire.KindStdout:
			has.Stdout += int64(len(f.Body))
		case wire.KindStderr:
			has.Stderr += int64(len(f.Body))
		default:
			return
		}
		if w.Data(f.Kind, call, f.Body) != nil {
			return
		}
	}
}
