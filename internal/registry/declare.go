package registry

import (
	"reflect"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// Declaration says which package initialiser is running.
type Declaration struct {
	Package string // import path
	File    string
	Line    int
	Main    bool // it is linked as the program's main package
}

// isInit recognises the functions that the compiler makes of package variables ("init"), of the
// init functions in their order ("init.0") and of large map literals ("map.init.0").
func isInit(name string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(name, "map."), "init")
	return ok && (rest == "" || rest[0] == '.' && isNumber(rest[1:]))
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 32)
	return err == nil
}

// Declaring finds the package initialiser that called the caller, however many helpers lie
// between: the first such frame on the stack. ok is false once packages have been initialised.
func Declaring() (d Declaration, ok bool) {
	pcs := make([]uintptr, 64)
	for {
		n := runtime.Callers(2, pcs)
		if n < len(pcs) {
			pcs = pcs[:n]
			break
		}
		pcs = make([]uintptr, 2*len(pcs))
	}
	frames := runtime.CallersFrames(pcs)
	for {
		frame, more := frames.Next()
		if pkg, name := SplitSymbol(frame.Function); isInit(name) {
			d := Declaration{Package: pkg, File: frame.File, Line: frame.Line, Main: pkg == "main"}
			if d.Main {
				d.Package = MainPath()
			}
			return d, true
		}
		if !more {
			return Declaration{}, false
		}
	}
}

// MainPath is the import path of the program's main package. `go run main.go` builds a package
// that has none; the go command calls it command-line-arguments.
func MainPath() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Path != "" {
		return info.Path
	}
	return "main"
}

// SplitSymbol splits a linker symbol into import path and name: "example.com/m/pkg.(*T).Do-fm"
// becomes "example.com/m/pkg" and "(*T).Do-fm". The linker escapes dots in the last path element.
func SplitSymbol(symbol string) (pkg, name string) {
	slash := strings.LastIndexByte(symbol[:genericStart(symbol)], '/') + 1
	dot := strings.IndexByte(symbol[slash:], '.')
	if dot < 0 {
		return "", symbol
	}
	pkg, name = symbol[:slash+dot], symbol[slash+dot+1:]
	return unescape(pkg), name
}

// unescape undoes the linker's %xx.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// genericStart is where a symbol's type arguments begin; they may hold slashes of their own.
func genericStart(symbol string) int {
	if i := strings.IndexByte(symbol, '['); i >= 0 {
		return i
	}
	return len(symbol)
}

// isLiteral recognises the names that the compiler gives to function literals ("init.func1",
// "make.func2.1") and to its own wrappers.
func isLiteral(name string) bool {
	_, inside, _ := strings.Cut(name, ".")
	for part := range strings.SplitSeq(inside, ".") {
		for _, made := range []string{"func", "gowrap"} {
			if n, ok := strings.CutPrefix(part, made); ok && isNumber(n) {
				return true
			}
		}
	}
	return false
}

// FunctionName is the name under which fn, a func value, is registered, or "" for a literal,
// whose name would change with every edit above it. Method values lose the compiler's marks
// ("(*T).Do-fm" is "T.Do"), and methods and instances of generic functions, which share one name,
// are told apart by their types.
func FunctionName(fn any) string {
	t := reflect.TypeOf(fn)
	f := runtime.FuncForPC(reflect.ValueOf(fn).Pointer())
	if f == nil {
		return ""
	}
	_, name := SplitSymbol(f.Name())
	if isLiteral(name) {
		return ""
	}
	method := strings.HasSuffix(name, "-fm") || strings.Contains(name, ").") || strings.Contains(name, ".")
	generic := strings.Contains(name, "[")
	name = strings.TrimSuffix(name, "-fm")
	if i := strings.IndexByte(name, '['); i >= 0 {
		if j := strings.LastIndexByte(name, ']'); j > i {
			name = name[:i] + name[j+1:]
		}
	}
	name = strings.NewReplacer("(*", "", ")", "").Replace(name)
	if method || generic {
		name += "[" + t.In(1).String() + "," + t.Out(0).String() + "]"
	}
	return name
}
