package registry

import (
	"reflect"
	"testing"
	"time"
)

type (
	point   struct{ X, Y int }
	renamed struct{ X, Y int }
	tagged  struct {
		X int `json:"x"`
		Y int
	}
)

type node struct {
	Value    string
	Children []*node
}
type other struct {
	Value    string
	Children []node
}

func TestFingerprint(t *testing.T) {
	print := func(v any) string { return Fingerprint(reflect.TypeOf(v), reflect.TypeOf(0)) }
	if print(point{}) != print(renamed{}) {
		t.Error("the name of a Go type changed the fingerprint")
	}
	distinct := []any{point{}, tagged{}, node{}, other{}, time.Time{}, "", 0, int64(0), []byte(nil), map[string]int{}, map[string]any{}, [2]int{}, [3]int{}}
	seen := map[string]any{}
	for _, v := range distinct {
		p := print(v)
		if twin, dup := seen[p]; dup {
			t.Errorf("%T and %T have the same fingerprint", v, twin)
		}
		seen[p] = v
		if p != print(v) {
			t.Errorf("%T: not stable", v)
		}
	}
	if Fingerprint(reflect.TypeFor[int](), reflect.TypeFor[string]()) == Fingerprint(reflect.TypeFor[string](), reflect.TypeFor[int]()) {
		t.Error("input and output can be swapped")
	}
}
