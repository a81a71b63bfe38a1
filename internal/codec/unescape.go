package codec

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape writes the text that a JSON string's inside stands for. It reports whether that is
// well-formed.
func unescape(b *strings.Builder, in *bufio.Reader) bool {
	for {
		if _, err := in.Peek(1); err != nil {
			return err == io.EOF
		}
		buf, _ := in.Peek(in.Buffered())
		n := bytes.IndexByte(buf, '\\')
		if n < 0 {
			n = len(buf)
		}
		if n > 0 {
			b.Write(buf[:n])
		} else {
			esc, _ := in.Peek(12)
			var r rune
			if r, n = escape(esc); n == 0 {
				return false
			}
			b.WriteRune(r)
		}
		in.Discard(n)
	}
}

// escape reads the escape sequence at the beginning of s, up to twelve bytes for a pair of
// surrogates. n is its length, 0 if it is malformed.
func escape(s []byte) (r rune, n int) {
	if len(s) < 2 {
		return 0, 0
	}
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if i := strings.IndexByte(from, s[1]); i >= 0 {
		return rune(to[i]), 2
	}
	r, ok := unit(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if second, ok := unit(s[6:]); ok {
		if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// unit reads \uXXXX.
func unit(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	u, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	return rune(u), err == nil
}
