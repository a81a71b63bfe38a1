package errchain

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	"github.com/remote-box/remote/internal/registry"
	"github.com/remote-box/remote/internal/wire"
)

// Decode rebuilds the error that n describes. n may come from a runner that is not trusted: what
// goes beyond the limits of Encode is dropped.
func Decode(n *wire.Error) error {
	d := &decoder{nodes: maxNodes + maxDepth, std: sentinels()}
	return d.node(n, 0)
}

type decoder struct {
	nodes int
	std   map[string]error
}

func (d *decoder) node(n *wire.Error, depth int) error {
	if n == nil || depth > maxDepth+1 || d.nodes <= 0 {
		return errors.New("further errors are left out here")
	}
	d.nodes--
	e := &chained{message: string(n.Message)}
	for _, w := range n.Wraps {
		if d.nodes <= 0 {
			break
		}
		e.wraps = append(e.wraps, d.node(w, depth+1))
	}
	if len(n.Is) < maxNodes {
		for _, name := range n.Is {
			if known := d.known(name); known != nil {
				e.is = append(e.is, known)
			}
		}
	}
	self := d.self(n, e.wraps)
	if self == nil {
		return e
	}
	e.is = slices.DeleteFunc(e.is, func(known error) bool { return answers(self, known) })
	if safely(self.Error) == e.message && len(e.is) == 0 && covers(self, e.wraps) {
		return self
	}
	e.wraps = append([]error{self}, e.wraps...)
	return e
}

// self is the error itself where both sides know it, else nil.
func (d *decoder) self(n *wire.Error, wraps []error) error {
	if n.Known == "" {
		return nil
	}
	if n.Data == nil {
		return d.known(n.Known)
	}
	var wrapped error
	if len(wraps) > 0 {
		wrapped = wraps[0]
	}
	if err, ok := decodeStd(n.Known, n.Data, wrapped); ok {
		return err
	}
	k, ok := registry.LookupError(n.Known)
	if !ok || k.Type == nil {
		return nil
	}
	return fromJSON(k.Type, n.Data, wraps)
}

// known is the value registered under name, or nil.
func (d *decoder) known(name string) error {
	if err, ok := d.std[name]; ok {
		return err
	}
	if k, ok := registry.LookupError(name); ok {
		return k.Value
	}
	return nil
}

// fromJSON makes an error of type t. Its methods are the user's and see data from a sandbox, so
// that a panic in them must not reach the caller.
func fromJSON(t reflect.Type, data []byte, wraps []error) error {
	return safely(func() error {
		v := reflect.New(t)
		if t.Kind() == reflect.Pointer {
			v.Elem().Set(reflect.New(t.Elem()))
		}
		err := json.Unmarshal(data, v.Interface())
		if _, wrongType := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !wrongType {
			return nil // a field of the wrong type is one that holds an error, as a rule
		}
		restore(v.Elem(), wraps)
		err, _ = v.Elem().Interface().(error)
		_ = err.Error() // one that panics is caught here and dropped
		return err
	})
}

var errorType = reflect.TypeFor[error]()

// restore puts wrapped errors back into the fields of an error that held them: JSON can't.
func restore(v reflect.Value, wraps []error) {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || len(wraps) == 0 {
		return
	}
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case !f.CanSet():
		case f.Type() == errorType && len(wraps) == 1:
			f.Set(reflect.ValueOf(&wraps[0]).Elem())
			return
		case f.Type() == reflect.SliceOf(errorType):
			f.Set(reflect.ValueOf(wraps))
			return
		}
	}
}

// answers reports whether err's own Is method says that it is target.
func answers(err, target error) bool {
	is, ok := err.(interface{ Is(error) bool })
	return ok && safely(func() bool { return is.Is(target) })
}

// covers reports whether err leads to all of wraps by itself.
func covers(err error, wraps []error) bool {
	own := unwrap(err)
	for i, w := range wraps {
		if i >= len(own) || !same(own[i], w) {
			return false
		}
	}
	return true
}

// same is a == b for errors whose type may not be comparable.
func same(a, b error) bool {
	return a != nil && b != nil && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// chained is an error of which the other side only knows the text and what it wraps.
type chained struct {
	message string
	is      []error
	wraps   []error
}

func (e *chained) Error() string   { return e.message }
func (e *chained) Unwrap() []error { return e.wraps }

func (e *chained) Is(target error) bool {
	for _, is := range e.is {
		if same(is, target) {
			return true
		}
	}
	return false
}
