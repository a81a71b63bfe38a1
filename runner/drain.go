package runner

import (
	"io"
	"os"
	"sync"

	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/proc"
)

// leaveDraining sees to it that processes which a call left running can go on printing after this
// process has ended: without a reader they would be killed by SIGPIPE.
func leaveDraining(pumps []*proc.Pump) {
	if len(descendants()) == 0 {
		return
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer null.Close()
	files := []*os.File{null, null, null}
	for _, p := range pumps {
		if f := p.Open(); f != nil {
			files = append(files, f)
		}
	}
	exe, err := executable()
	if err != nil || len(files) == 3 {
		return
	}
	p, err := os.StartProcess(exe, []string{os.Args[0]}, &os.ProcAttr{
		Files: files, Sys: proc.Group(), Dir: "/",
		Env: append(os.Environ(), callproc.EnvMode+"="+callproc.ModeDrain),
	})
	if err == nil {
		p.Release()
	}
}

// runDrain drops what arrives on the descriptors that leaveDraining passed on.
func runDrain() int {
	var wg sync.WaitGroup
	for fd := range uintptr(2) {
		wg.Go(func() { io.Copy(io.Discard, openFD(3+fd)) })
	}
	wg.Wait()
	return 0
}
