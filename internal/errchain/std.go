package errchain

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strconv"
	"syscall"

	"github.com/remote-box/remote/internal/wire"
)

// sentinels are the standard library's errors that travel as themselves.
func sentinels() map[string]error {
	return map[string]error{
		"context.Canceled":         context.Canceled,
		"context.DeadlineExceeded": context.DeadlineExceeded,
		"errors.ErrUnsupported":    errors.ErrUnsupported,
		"exec.ErrDot":              exec.ErrDot,
		"exec.ErrNotFound":         exec.ErrNotFound,
		"exec.ErrWaitDelay":        exec.ErrWaitDelay,
		"fs.ErrClosed":             fs.ErrClosed,
		"fs.ErrExist":              fs.ErrExist,
		"fs.ErrInvalid":            fs.ErrInvalid,
		"fs.ErrNotExist":           fs.ErrNotExist,
		"fs.ErrPermission":         fs.ErrPermission,
		"io.EOF":                   io.EOF,
		"io.ErrClosedPipe":         io.ErrClosedPipe,
		"io.ErrNoProgress":         io.ErrNoProgress,
		"io.ErrShortBuffer":        io.ErrShortBuffer,
		"io.ErrShortWrite":         io.ErrShortWrite,
		"io.ErrUnexpectedEOF":      io.ErrUnexpectedEOF,
		"os.ErrDeadlineExceeded":   os.ErrDeadlineExceeded,
		"os.ErrNoDeadline":         os.ErrNoDeadline,
		"os.ErrProcessDone":        os.ErrProcessDone,
		"strconv.ErrRange":         strconv.ErrRange,
		"strconv.ErrSyntax":        strconv.ErrSyntax,
	}
}

// fields is what the standard library's error types below hold besides the error they wrap.
type fields struct {
	Op, Path, New wire.Text // paths may hold any bytes
	OS            string
	Errno         uint64
}

// encodeStd recognises the standard library's error types that are rebuilt on the other side.
func encodeStd(err error) (name string, data []byte) {
	if v := reflect.ValueOf(err); v.Kind() == reflect.Pointer && v.IsNil() {
		return "", nil
	}
	var f fields
	switch e := err.(type) {
	case *fs.PathError:
		name, f = "fs.PathError", fields{Op: wire.Text(e.Op), Path: wire.Text(e.Path)}
	case *os.LinkError:
		name, f = "os.LinkError", fields{Op: wire.Text(e.Op), Path: wire.Text(e.Old), New: wire.Text(e.New)}
	case *os.SyscallError:
		name, f = "os.SyscallError", fields{Op: wire.Text(e.Syscall)}
	case *strconv.NumError:
		name, f = "strconv.NumError", fields{Op: wire.Text(e.Func), Path: wire.Text(e.Num)}
	case *exec.Error:
		name, f = "exec.Error", fields{Path: wire.Text(e.Name)}
	case syscall.Errno:
		name, f = "syscall.Errno", fields{OS: runtime.GOOS, Errno: uint64(e)}
	default:
		return "", nil
	}
	data, _ = json.Marshal(f)
	return name, data
}

// decodeStd rebuilds what encodeStd recognised; wrapped is the error inside it.
func decodeStd(name string, data []byte, wrapped error) (error, bool) {
	var f fields
	if json.Unmarshal(data, &f) != nil {
		return nil, false
	}
	op, path := string(f.Op), string(f.Path)
	switch name {
	case "fs.PathError":
		return &fs.PathError{Op: op, Path: path, Err: wrapped}, wrapped != nil
	case "os.LinkError":
		return &os.LinkError{Op: op, Old: path, New: string(f.New), Err: wrapped}, wrapped != nil
	case "os.SyscallError":
		return &os.SyscallError{Syscall: op, Err: wrapped}, wrapped != nil
	case "strconv.NumError":
		return &strconv.NumError{Func: op, Num: path, Err: wrapped}, wrapped != nil
	case "exec.Error":
		return &exec.Error{Name: path, Err: wrapped}, wrapped != nil
	case "syscall.Errno":
		// Numbers mean the same on one operating system only.
		return syscall.Errno(f.Errno), f.OS == runtime.GOOS && f.Errno != 0
	}
	return nil, false
}
