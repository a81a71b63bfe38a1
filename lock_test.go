package remote_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/remote-box/remote"
)

func TestParseLock(t *testing.T) {
	const image = `{"program":"p","backend":"b","image":"i"}`
	l, err := remote.ParseLock([]byte(`{"version":1,"images":[` + image + `]}` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := remote.ParseLock(l.Bytes())
	if err != nil || !bytes.Equal(again.Bytes(), l.Bytes()) {
		t.Errorf("%v: %s", err, again.Bytes())
	}
	for text, want := range map[string]string{
		"": "no JSON",
		"<<<<<<< ours\n" + `{"version":1,"images":[]}`:     "no JSON",
		`{"version":1,"images":[]}` + "\n>>>>>>> theirs\n": "no JSON",
		`{"version":1,"images":[` + image + `]}{}`:         "no JSON",
		`{"version":1,"images":[{"program":"p"}]}`:         "lacks program, backend or image",
		`{"version":1,"images":[{"program":1}]}`:           "no JSON",
		`{"version":99,"images":[]}`:                       "version",
	} {
		_, err := remote.ParseLock([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, errors.ErrUnsupported) != (want == "version") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
