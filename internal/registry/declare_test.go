package registry

import (
	"context"
	"testing"
)

type worker struct{}

func (*worker) Do(context.Context, int) (string, error)   { return "", nil }
func (worker) Val(context.Context, int) (string, error)   { return "", nil }
func plain(context.Context, int) (string, error)          { return "", nil }
func same[T any](_ context.Context, in T) (T, error)      { return in, nil }
func init2(context.Context, struct{}) (struct{}, error)   { return struct{}{}, nil }
func func7(context.Context, struct{}) (struct{}, error)   { return struct{}{}, nil }
func funcall(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }

var (
	fromVariable, okVariable = Declaring()
	fromHelper, okHelper     = func() (Declaration, bool) { return throughHelper() }()
)

func throughHelper() (Declaration, bool) { return Declaring() }

func TestDeclaring(t *testing.T) {
	const pkg = "github.com/remote-box/remote/internal/registry"
	for name, d := range map[string]Declaration{"variable": fromVariable, "helper": fromHelper} {
		if d.Package != pkg || d.Line == 0 || d.File == "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if !okVariable || !okHelper {
		t.Error("no initialiser found while packages initialised")
	}
	if d, ok := Declaring(); ok {
		t.Errorf("found initialiser %+v inside a test", d)
	}
}

func TestFunctionName(t *testing.T) {
	w := &worker{}
	for _, c := range []struct {
		fn   any
		want string
	}{
		{plain, "plain"},
		{w.Do, "worker.Do[int,string]"},
		{w.Val, "worker.Val[int,string]"},
		{same[int], "same[int,int]"},
		{same[[]string], "same[[]string,[]string]"},
		{same[worker], "same[registry.worker,registry.worker]"},
		{init2, "init2"},
		{funcall, "funcall"},
		{func7, "func7"},
		{func(context.Context, int) (int, error) { return 0, nil }, ""},
	} {
		if got := FunctionName(c.fn); got != c.want {
			t.Errorf("FunctionName = %q, want %q", got, c.want)
		}
	}
}

func TestSplitSymbol(t *testing.T) {
	for _, c := range []struct{ symbol, pkg, name string }{
		{"main.main", "main", "main"},
		{"example.com/m/pkg.(*T).Do-fm", "example.com/m/pkg", "(*T).Do-fm"},
		{"gopkg.in/yaml%2ev3.init.0", "gopkg.in/yaml.v3", "init.0"},
		{"example.com/m/a.gen[example.com/other/b.T]", "example.com/m/a", "gen[example.com/other/b.T]"},
		{"runtime.goexit", "runtime", "goexit"},
		{"", "", ""},
	} {
		if pkg, name := SplitSymbol(c.symbol); pkg != c.pkg || name != c.name {
			t.Errorf("SplitSymbol(%q) = %q, %q", c.symbol, pkg, name)
		}
	}
}

func TestIsInit(t *testing.T) {
	for name, want := range map[string]bool{
		"init": true, "init.0": true, "init.12": true, "map.init.0": true,
		"init.func1": false, "T.init": false, "(*T).init": false, "initialise": false, "init2": false,
	} {
		if isInit(name) != want {
			t.Errorf("isInit(%q) = %t", name, !want)
		}
	}
}
