package codec

import (
	"fmt"
	"io"
	"os"
)

// Open opens a payload's file. It takes nothing but a regular file of that size, follows no link
// and does not block: whoever wrote the file may not be trusted.
func Open(name string, size int64) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() != size) {
		err = fmt.Errorf("%s is not a file of %d bytes", name, size)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// UnmarshalAt reads the JSON of one value, the first size bytes of r, into v, a pointer, without
// holding a large string twice. Its error is an *Error, or one of r's.
func UnmarshalAt(r io.ReaderAt, size int64, v any) error {
	if size > largeSize && unmarshalLarge(r, size, v, largeSize/4) {
		return nil
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), data); err != nil {
		return err
	}
	return Unmarshal(data, v)
}
