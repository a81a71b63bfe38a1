package codec

import (
	"fmt"
	"io"
	"os"
)

// UnmarshalFile reads the JSON of one value, a file of size bytes, into v, a pointer, without
// holding a large string twice. It opens nothing but a regular file of that size, and follows no
// link: whoever wrote the file may not be trusted. Its error is an *Error, or one of reading.
func UnmarshalFile(name string, size int64, v any) error {
	f, err := os.OpenFile(name, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() != size {
		return fmt.Errorf("%s is not a file of %d bytes", name, size)
	}
	return unmarshalAt(f, size, v)
}

func unmarshalAt(r io.ReaderAt, size int64, v any) error {
	if size > largeSize && unmarshalLarge(r, size, v, largeSize/4) {
		return nil
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), data); err != nil {
		return err
	}
	return Unmarshal(data, v)
}
