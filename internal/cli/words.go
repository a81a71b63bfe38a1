package cli

import (
	"strconv"
	"strings"
	"sync"

	"github.com/remote-box/remote/internal/registry"
)

// lastWords keeps the end of what a program prints. Its methods may be called at once.
type lastWords struct {
	mu  sync.Mutex
	buf []byte
}

// Limits: a trace of all goroutines is kept whole, of anything else the end.
const (
	wordsKept  = 256 << 10
	wordsShown = 4 << 10
)

func (l *lastWords) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, p...)
	if over := len(l.buf) - wordsKept; over > 0 {
		l.buf = append(l.buf[:0], l.buf[over:]...)
	}
	return len(p), nil
}

func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(string(l.buf))
}

// beforeTrace is what a program printed before it was asked where it is.
func beforeTrace(words string) string {
	words, _, _ = strings.Cut(words, "SIGQUIT: quit\n")
	return endOf(words)
}

func endOf(words string) string {
	words = strings.TrimSpace(words)
	if len(words) <= wordsShown {
		return words
	}
	words = words[len(words)-wordsShown:]
	_, words, _ = strings.Cut(words, "\n")
	return "…\n" + words
}

// initPlace finds the package initialiser in a trace: in the one that is being initialised, or
// that panicked.
func initPlace(words string) (file string, line int) {
	function := ""
	for text := range strings.Lines(words) {
		text = strings.TrimRight(text, "\n")
		at, isPlace := strings.CutPrefix(text, "\t")
		if !isPlace {
			function, _, _ = strings.Cut(text, "(")
			continue
		}
		if !isInit(function) {
			continue
		}
		at, _, _ = strings.Cut(at, " ")
		if i := strings.LastIndexByte(at, ':'); i > 0 {
			if n, err := strconv.Atoi(at[i+1:]); err == nil {
				return at[:i], n
			}
		}
	}
	return "", 0
}

// isInit reports whether a function of a trace initialises a package that is not of the standard
// library.
func isInit(symbol string) bool {
	pkg, name := registry.SplitSymbol(symbol)
	first, _, _ := strings.Cut(pkg, "/")
	return (name == "init" || strings.HasPrefix(name, "init.")) && (strings.Contains(first, ".") || pkg == "main")
}
