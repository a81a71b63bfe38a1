package errchain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/remote-box/remote/internal/registry"
	"github.com/remote-box/remote/internal/wire"
)

var (
	errKnown = errors.New("known")
	errOther = errors.New("not registered")
)

// quota is a registered type.
type quota struct{ Limit int }

func (q *quota) Error() string { return fmt.Sprintf("over %d", q.Limit) }

// query is a registered type that holds another error, as many do.
type query struct {
	Text string
	Err  error
}

func (q *query) Error() string { return q.Text + ": " + q.Err.Error() }
func (q *query) Unwrap() error { return q.Err }

// batch is one that holds several.
type batch struct{ Errs []error }

func (b *batch) Error() string   { return fmt.Sprint(len(b.Errs), " errors") }
func (b *batch) Unwrap() []error { return b.Errs }

// code is a registered value type; list one whose values can't be compared.
type (
	code int
	list []string
)

func (c code) Error() string { return "code " + strconv.Itoa(int(c)) }
func (l list) Error() string { return strings.Join(l, ",") }

// angry panics in whatever it is asked.
type angry struct {
	text *string
	n    int
}

func (a angry) Error() string                { return *a.text }
func (a angry) Unwrap() error                { return errors.New(*a.text) }
func (a angry) Is(error) bool                { return *a.text == "" }
func (a angry) MarshalJSON() ([]byte, error) { return []byte(*a.text), nil }

// liar is everything that is known.
type liar struct{}

func (liar) Error() string        { return "liar" }
func (liar) Is(target error) bool { return target == errKnown || target == fs.ErrExist }

// traced says more with %+v.
type traced struct{ error }

func (t traced) Format(s fmt.State, verb rune) {
	io.WriteString(s, t.Error())
	if s.Flag('+') {
		io.WriteString(s, "\n\tmain.go:12")
	}
}

// uncomparable is comparable by its type, but not with this in it.
type uncomparable struct{ v any }

func (u uncomparable) Error() string { return "uncomparable" }

// circle wraps itself; fork does so twice.
type (
	circle struct{}
	fork   struct{}
)

func (c *circle) Error() string { return "circle" }
func (c *circle) Unwrap() error { return c }
func (f *fork) Error() string   { return "fork" }
func (f *fork) Unwrap() []error { return []error{f, f} }

func TestMain(m *testing.M) {
	d := registry.Declaration{Package: "example.com/errchain"}
	for _, err := range []error{errKnown, &quota{}, &query{}, &batch{}, code(0), list{}, angry{n: 1}, uncomparable{[]int{}}} {
		if other, ok := registry.AddError(d, err); !ok {
			panic(other.Name)
		}
	}
	os.Exit(m.Run())
}

// travel is what comes out at the other end.
func travel(t testing.TB, err error) error {
	t.Helper()
	b, jerr := json.Marshal(Encode(err))
	if jerr != nil {
		t.Fatal(jerr)
	}
	if len(b) > maxSize {
		t.Fatalf("%d bytes do not fit into a frame", len(b))
	}
	var n wire.Error
	if err := json.Unmarshal(b, &n); err != nil {
		t.Fatal(err)
	}
	return Decode(&n)
}

func TestTravel(t *testing.T) {
	noFile := &fs.PathError{Op: "open", Path: "/x\xff", Err: syscall.ENOENT}
	_, atoi := strconv.Atoi("12x")
	for _, c := range []struct {
		name   string
		err    error
		is     []error
		as     func(error) bool
		isNot  []error
		itself bool // the very same value comes back
	}{
		{name: "unknown", err: errOther, isNot: []error{errOther, errKnown}},
		{name: "registered value", err: errKnown, itself: true},
		{name: "sentinel", err: io.EOF, itself: true},
		{name: "context", err: context.DeadlineExceeded, itself: true},
		{name: "wrapped", err: fmt.Errorf("outer: %w", errKnown), is: []error{errKnown}, isNot: []error{io.EOF}},
		{name: "wrapped twice", err: fmt.Errorf("%w and %w", errKnown, fs.ErrClosed), is: []error{errKnown, fs.ErrClosed}},
		{name: "join", err: errors.Join(io.ErrUnexpectedEOF, nil, errKnown, errOther), is: []error{io.ErrUnexpectedEOF, errKnown}, isNot: []error{errOther}},
		{name: "join inside", err: fmt.Errorf("a: %w", errors.Join(fmt.Errorf("b: %w", errKnown), context.Canceled)), is: []error{errKnown, context.Canceled}},
		{
			name: "PathError", err: fmt.Errorf("loading: %w", noFile), is: []error{fs.ErrNotExist, syscall.ENOENT}, isNot: []error{fs.ErrExist},
			as: func(err error) bool {
				e, ok := errors.AsType[*fs.PathError](err)
				return ok && *e == *noFile && os.IsNotExist(e)
			},
		},
		{
			name: "LinkError", err: &os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EXDEV}, is: []error{syscall.EXDEV},
			as: func(err error) bool {
				e, ok := err.(*os.LinkError)
				return ok && *e == os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EXDEV}
			},
		},
		{
			name: "SyscallError", err: os.NewSyscallError("dup3", syscall.EPERM), is: []error{fs.ErrPermission},
			as: func(err error) bool {
				e, ok := err.(*os.SyscallError)
				return ok && e.Syscall == "dup3" && e.Err == syscall.EPERM
			},
		},
		{
			name: "NumError", err: atoi, is: []error{strconv.ErrSyntax},
			as: func(err error) bool {
				e, ok := err.(*strconv.NumError)
				return ok && e.Func == "Atoi" && e.Num == "12x"
			},
		},
		{
			name: "exec.Error", err: &exec.Error{Name: "nope", Err: exec.ErrNotFound}, is: []error{exec.ErrNotFound},
			as: func(err error) bool { e, ok := err.(*exec.Error); return ok && e.Name == "nope" },
		},
		{name: "Errno", err: syscall.EEXIST, is: []error{fs.ErrExist}, itself: true},
		{name: "unsupported", err: syscall.ENOTSUP, is: []error{errors.ErrUnsupported}, itself: true},
		{name: "registered type", err: fmt.Errorf("a: %w", &quota{7}), as: func(err error) bool { e, ok := errors.AsType[*quota](err); return ok && e.Limit == 7 }},
		{
			name: "registered type with an error inside", err: &query{"select", fmt.Errorf("b: %w", errKnown)}, is: []error{errKnown},
			as: func(err error) bool {
				e, ok := err.(*query)
				return ok && e.Text == "select" && errors.Is(e.Err, errKnown)
			},
		},
		{
			name: "registered type with a PathError inside", err: &query{"select", noFile}, is: []error{fs.ErrNotExist},
			as: func(err error) bool { e, ok := err.(*query); return ok && *e.Err.(*fs.PathError) == *noFile },
		},
		{
			name: "registered type with several inside", err: &batch{[]error{io.EOF, errKnown}}, is: []error{io.EOF, errKnown},
			as: func(err error) bool { e, ok := err.(*batch); return ok && len(e.Errs) == 2 && e.Errs[0] == io.EOF },
		},
		{name: "registered value type", err: code(5), itself: true},
		{name: "uncomparable type", err: fmt.Errorf("a: %w", list{"x", "y"}), as: func(err error) bool { e, ok := errors.AsType[list](err); return ok && len(e) == 2 }},
		{name: "uncomparable inside", err: uncomparable{[]int{1}}},
		{name: "Is method", err: fmt.Errorf("a: %w", liar{}), is: []error{errKnown, fs.ErrExist}, isNot: []error{io.EOF}},
		{name: "panics", err: fmt.Errorf("a: %w", errors.Join(angry{}, errKnown)), is: []error{errKnown}},
		{name: "nil pointer", err: (*quota)(nil)},
		{name: "nil PathError", err: errors.Join((*fs.PathError)(nil), errKnown), is: []error{errKnown}},
		{name: "nil inside", err: &query{"x", (*quota)(nil)}},
		{name: "not UTF-8", err: errors.New("a\xff\x00"), isNot: []error{errKnown}},
		{name: "empty", err: errors.New("")},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := travel(t, c.err)
			if want := safely(c.err.Error); got.Error() != want {
				t.Errorf("text %q, want %q", got, want)
			}
			for _, target := range c.is {
				if !errors.Is(got, target) {
					t.Errorf("%#v is not %v", got, target)
				}
			}
			for _, target := range c.isNot {
				if errors.Is(got, target) {
					t.Errorf("%#v is %v", got, target)
				}
			}
			if c.as != nil && !c.as(got) {
				t.Errorf("%#v is not of its type", got)
			}
			if c.itself && got != c.err {
				t.Errorf("%#v is not the same error", got)
			}
		})
	}
}

// The same error must be described in the same bytes: maps have no order.
func TestEncodeIsStable(t *testing.T) {
	err := fmt.Errorf("a: %w", errors.Join(liar{}, syscall.EEXIST, fs.ErrExist))
	want, _ := json.Marshal(Encode(err))
	for range 20 {
		if got, _ := json.Marshal(Encode(err)); string(got) != string(want) {
			t.Fatalf("%s\n%s", got, want)
		}
	}
}

func TestDetail(t *testing.T) {
	if n := Encode(traced{errKnown}); n.Detail != "known\n\tmain.go:12" || n.Type != "errchain.traced" {
		t.Errorf("%+v", n)
	}
	if n := Encode(errKnown); n.Detail != "" {
		t.Errorf("%+v", n)
	}
}

// level wraps an error without repeating its text, so that many of them cost little.
type level struct{ err error }

func (l *level) Error() string { return "level" }
func (l *level) Unwrap() error { return l.err }

func deep(n int) error {
	err := errKnown
	for range n {
		err = &level{err}
	}
	return err
}

func deepText(n int) error {
	err := errKnown
	for i := range n {
		err = fmt.Errorf("level %d: %w", i, err)
	}
	return err
}

// Whatever its size, a chain fits into a frame, keeps its text as far as that fits, and its
// beginning.
func TestLimits(t *testing.T) {
	thousands := make([]error, 2000)
	for i := range thousands {
		thousands[i] = fmt.Errorf("error %d: %w", i, io.EOF)
	}
	huge := strings.Repeat("huge ", 1<<17)
	for _, c := range []struct {
		name string
		err  error
		is   []error
		text int // how much of the text there must be at least
	}{
		{"deep enough", deepText(maxDepth - 1), []error{errKnown}, 64 << 10},
		{"deep text", deepText(1_500), nil, 8 << 10},
		{"deep", deep(10_000), nil, 5},
		{"joined", errors.Join(thousands...), []error{io.EOF}, 32 << 10},
		{"huge", fmt.Errorf("%s%w", huge, errKnown), []error{errKnown}, 32 << 10},
		{"huge below", fmt.Errorf("top: %w", errors.Join(errors.New(huge), errors.New(huge), errors.New(huge), errKnown)), []error{errKnown}, 32 << 10},
		{"huge data", &query{huge, errKnown}, []error{errKnown}, 32 << 10},
		{"huge and to be escaped", errors.New(strings.Repeat("\x00\x01", 1<<17)), nil, 4 << 10},
		{"circle", fmt.Errorf("x: %w", &circle{}), nil, 5},
		{"fork", &fork{}, nil, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := travel(t, c.err)
			want := c.err.Error()
			if n := min(c.text, len(want)); !strings.HasPrefix(got.Error(), want[:n]) {
				t.Errorf("the text is cut to %d bytes", len(got.Error()))
			}
			for _, target := range c.is {
				if !errors.Is(got, target) {
					t.Errorf("it is not %v any more", target)
				}
			}
			if n := count(got); n > maxNodes+maxDepth+2 {
				t.Errorf("%d errors", n)
			}
		})
	}
	if got := travel(t, deep(200)); !strings.Contains(last(got).Error(), "left out") {
		t.Errorf("the end of a chain that was cut is %v", last(got))
	}
}

// count counts the errors in a tree.
func count(err error) int {
	n := 1
	for _, w := range unwrap(err) {
		n += count(w)
	}
	return n
}

func last(err error) error {
	for {
		below := unwrap(err)
		if len(below) == 0 {
			return err
		}
		err = below[len(below)-1]
	}
}

// FuzzDecode reads what a hostile runner may send.
func FuzzDecode(f *testing.F) {
	for _, err := range []error{errKnown, &query{"x", &quota{1}}, errors.Join(io.EOF, syscall.ENOENT), list{"a"}, angry{}} {
		b, _ := json.Marshal(Encode(err))
		f.Add(b)
	}
	f.Add([]byte(`{"known":"fs.PathError","data":"e30="}`))
	f.Add([]byte(`{"known":"example.com/errchain.*errchain.query","data":"bnVsbA==","message":"x"}`))
	f.Add([]byte(`{"known":"fs.PathError","data":"e30=","wraps":[{"known":"fs.PathError","data":"e30=","wraps":[null,{}]}],"is":["io.EOF","x"]}`))
	f.Add([]byte(strings.Repeat(`{"wraps":[`, 3000) + strings.Repeat(`]}`, 3000)))
	f.Add([]byte(`{"wraps":[` + strings.Repeat(`{},`, 30_000) + `{}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var n wire.Error
		if len(b) > wire.MaxBody || json.Unmarshal(b, &n) != nil {
			t.Skip()
		}
		err := Decode(&n)
		if len(err.Error()) > 2*wire.MaxBody {
			t.Errorf("a text of %d bytes", len(err.Error()))
		}
		if n := count(err); n > 2*(maxNodes+maxDepth)+2 {
			t.Errorf("%d errors", n)
		}
		errors.Is(err, errOther)
		errors.Is(err, io.EOF)
		errors.AsType[*quota](err)
		_ = fmt.Sprintf("%v %+v", err, err)
	})
}

// FuzzText checks that texts arrive whole.
func FuzzText(f *testing.F) {
	f.Add("outer", "inner\xff", "joined")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		err := fmt.Errorf("%s: %w", a, errors.Join(errors.New(b), &query{c, io.EOF}, errKnown))
		if len(err.Error()) > maxText {
			t.Skip()
		}
		got := travel(t, err)
		if got.Error() != err.Error() || !errors.Is(got, errKnown) || !errors.Is(got, io.EOF) {
			t.Errorf("%q came back as %q", err, got)
		}
	})
}
