package callproc

import (
	"bytes"
	"errors"
	"testing"

	"github.com/remote-box/remote/internal/wire"
)

func TestPayload(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789"), 500_000)
	var p Payload
	if err := p.Begin(int64(len(want)), 0); err != nil {
		t.Fatal(err)
	}
	for rest := want; len(rest) > 0; {
		if p.Complete() {
			t.Fatal("complete too early")
		}
		n := min(len(rest), wire.ChunkSize)
		if err := p.Add(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if !p.Complete() || !bytes.Equal(p.Bytes(), want) {
		t.Errorf("%d bytes of %d", len(p.Bytes()), len(want))
	}
	if c := cap(p.Bytes()); c > len(want) {
		t.Errorf("room for %d bytes, %d were announced", c, len(want))
	}
}

// What a liar announces costs nothing, and what it sends beyond that is refused.
func TestPayloadOfLiar(t *testing.T) {
	var p Payload
	if err := p.Begin(-1, 0); err == nil {
		t.Error("a negative size")
	}
	err := p.Begin(1<<40, 1<<30)
	if e, ok := errors.AsType[*TooLarge](err); !ok || e.Limit != 1<<30 {
		t.Errorf("over the limit: %v", err)
	}
	if err := p.Begin(1<<40, 0); err != nil || cap(p.Bytes()) > 1<<20 {
		t.Errorf("%v, room for %d bytes before any has come", err, cap(p.Bytes()))
	}
	if err := p.Add(nil); err == nil {
		t.Error("an empty piece")
	}
	if err := p.Begin(3, 0); err != nil {
		t.Fatal(err)
	}
	if err := p.Add([]byte("four")); err == nil {
		t.Error("more than announced")
	}
}
