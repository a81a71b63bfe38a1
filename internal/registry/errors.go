package registry

import (
	"errors"
	"fmt"
	"reflect"
)

// KnownError is an error that both sides know: the same program text registered it on both.
type KnownError struct {
	Name  string
	Value error        // an error with this identity is this error on the other side
	Type  reflect.Type // errors of this type travel as JSON; nil for the standard library's types
	Pos   string
}

var knownErrors = map[string]*KnownError{}

// textTypes are the standard library's error types that hold nothing but a text: errors of these
// types are known by identity, never by type.
var textTypes = map[reflect.Type]bool{
	reflect.TypeOf(errors.New("")):                       true,
	reflect.TypeOf(fmt.Errorf("%w", errors.New(""))):     true,
	reflect.TypeOf(errors.Join(errors.New(""))):          true,
	reflect.TypeOf(fmt.Errorf("%w%w", errText, errText)): true,
}

var errText = errors.New("")

// AddError registers err as it was declared in d. Another error of that name is returned instead.
func AddError(d Declaration, err error) (other *KnownError, ok bool) {
	k := &KnownError{Value: err, Pos: fmt.Sprintf("%s:%d", d.File, d.Line)}
	t := reflect.TypeOf(err)
	if textTypes[t] {
		k.Name = d.Package + "." + err.Error()
	} else {
		k.Type = t
		named := t
		if t.Kind() == reflect.Pointer {
			named = t.Elem()
		}
		k.Name = named.PkgPath() + "." + t.String()
		if named.PkgPath() == "main" {
			k.Name = d.Package + "." + t.String()
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if other, dup := knownErrors[k.Name]; dup {
		return other, false
	}
	knownErrors[k.Name] = k
	return nil, true
}

// KnownErrors calls f for every registered error until it returns false.
func KnownErrors(f func(*KnownError) bool) {
	mu.RLock()
	defer mu.RUnlock()
	for _, k := range knownErrors {
		if !f(k) {
			return
		}
	}
}

// LookupError finds a registered error by its name.
func LookupError(name string) (*KnownError, bool) {
	mu.RLock()
	defer mu.RUnlock()
	k, ok := knownErrors[name]
	return k, ok
}
