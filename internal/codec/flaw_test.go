package codec

import (
	"encoding/json"
	"errors"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
)

type event struct {
	time.Time
	Name string
}

type ownMethod struct {
	time.Time
	Name string
}

func (o ownMethod) MarshalJSON() ([]byte, error) { return json.Marshal(o.Name) }

type ownPointerMethod struct {
	time.Time
	Name string
}

func (o *ownPointerMethod) MarshalJSON() ([]byte, error) { return json.Marshal(o.Name) }

type ownGeneric[T any] struct {
	time.Time
	Value T
}

func (o ownGeneric[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Value) }

type (
	idA  struct{ ID int }
	idB  struct{ ID int }
	deep struct{ idA }
)

// TestFlaws checks types of which encoding/json would leave something out without a word.
func TestFlaws(t *testing.T) {
	for name, c := range map[string]struct {
		v             any
		field, reason string
	}{
		"an embedded time": {event{Name: "x"}, "", "the embedded time.Time writes the JSON of all of codec.event, without its field Name; give "},
		"in a list":        {[]event{{}}, "[0]", "embedded time.Time"},
		"in a map":         {map[string]*event{"k": {}}, "[k]", "embedded time.Time"},
		"in a field":       {struct{ E struct{ In event } }{}, "E.In", "embedded time.Time"},
		"in an interface":  {[]any{event{}}, "[0]", "embedded time.Time"},
		"a pointer's method": {struct {
			*big.Int
			N int
		}{big.NewInt(1), 2}, "", "embedded *big.Int"},
		"a text method": {struct {
			netip.Addr
			Port int
		}{}, "", "embedded netip.Addr"},
		"an interface": {struct {
			json.Marshaler
			N int
		}{json.RawMessage("1"), 2}, "", "embedded json.Marshaler"},
		"inside an embedded one": {struct {
			event
			N int
		}{}, "", "embedded codec.event"},
		"two embedded ones": {struct {
			time.Time
			big.Int
			N int
		}{}, "", "the embedded time.Time would not be written"},
		"one name": {reflect.Zero(reflect.StructOf([]reflect.StructField{ // which go vet does not see
			{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"x"`},
			{Name: "B", Type: reflect.TypeFor[int](), Tag: `json:"x"`},
		})).Interface(), "", `the fields A and B have the same JSON name, "x"`},
		"a name and a tag": {struct {
			X int
			B int `json:"X"`
		}{1, 2}, "", `the fields X and B have the same JSON name, "X"`},
		"of two embedded ones": {struct {
			idA
			idB
		}{}, "", `the fields idA.ID and idB.ID have the same JSON name, "ID"`},
		"embedded on two ways": {struct {
			One struct{} `json:"-"`
			deep
			Two struct{ deeper } `json:"two"`
			wider
		}{}, "", `the fields deep.idA.ID and wider.idA.ID have the same JSON name, "ID"`},
	} {
		_, err := Marshal(c.v)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Field != c.field || !strings.Contains(e.Reason, c.reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type (
	deeper struct{ idA }
	wider  struct{ idA }
)

// TestNoFlaws checks types that look alike, of which nothing is lost.
func TestNoFlaws(t *testing.T) {
	for name, v := range map[string]any{
		"a method of its own":         ownMethod{Name: "x"},
		"a method of its own pointer": &ownPointerMethod{Name: "x"},
		"a generic type's":            ownGeneric[int]{Value: 3},
		"nothing beside it":           struct{ time.Time }{time.Unix(1, 0).UTC()},
		"nothing that travels beside it": struct {
			time.Time
			n int
			M int `json:"-"`
		}{time.Unix(1, 0).UTC(), 1, 2},
		"a field with a name": struct {
			At time.Time
			N  int
		}{time.Unix(1, 0).UTC(), 1},
		"one above another": struct {
			idA
			ID int
		}{idA{1}, 2},
		"one above two others": struct {
			idA
			idB
			ID int
		}{},
		"two that differ in case": struct {
			A int `json:"a"`
			B int `json:"A"`
		}{1, 2},
		"a recursive embedding": Recursive{&Recursive{N: 1}, 2},
	} {
		got, err := Marshal(v)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := plainJSON(t, v); string(got) != want {
			t.Errorf("%s: %s, encoding/json says %s", name, got, want)
		}
	}
}

type Recursive struct {
	*Recursive
	N int
}
