package daytona

import (
	"bytes"
	"testing"
)

const (
	out1 = "\x01\x01\x01"
	err1 = "\x02\x02\x02"
)

func TestDemux(t *testing.T) {
	end := out1 + "~rbx tag 7\n" + err1 + "\n" + err1 + "~rbx tag 7\n"
	for _, c := range []struct {
		name, log, out, err string
		exact, ended        bool
	}{
		{"lines", out1 + "a\n" + err1 + "b\n" + out1 + "c\n" + out1 + "\n" + end, "a\nc\n", "b\n", true, true},
		{"stderr", err1 + "b\n" + out1 + "\n" + end, "", "b\n", true, true},
		{"no newline at the end", out1 + "a\n" + end, "a", "", true, true},
		{"two newlines at the end", out1 + "a\n" + out1 + "\n" + out1 + "\n" + end, "a\n\n", "", true, true},
		{"frames are not held back", out1 + "frame\n", "frame\n", "", false, false},
		{"nothing", out1 + "\n" + end, "", "", true, true},
		{"another command's end", out1 + "~rbx other 0\n" + out1 + "\n" + end, "~rbx other 0\n", "", true, true},
		{"an end that is none", out1 + "~rbx tag x\n" + out1 + "\n" + end, "~rbx tag x\n", "", true, true},
		{"nearly an end", out1 + "~rbx tag\n" + out1 + "\n" + end, "~rbx tag\n", "", true, true},
		{"lines without marks", "a\n" + err1 + "b\nc\n" + out1 + "d\n" + out1 + "\n" + end, "a\nd\n", "b\nc\n", true, true},
		{"half a mark", out1 + "a\n" + "\x01\x01b\n" + out1 + "\n" + end, "a\n\x01\x01b\n", "", true, true},
		{"a mark inside a line", out1 + "a" + err1 + "b\n" + out1 + "\n" + end, "a" + err1 + "b\n", "", true, true},
		{"what follows the end", out1 + "\n" + end + out1 + "late\n", "", "", true, true},
		{"no end", out1 + "a\n" + out1 + "~rbx ta", "a\n~rbx ta", "", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for size := 1; size <= len(c.log); size++ {
				var out, err bytes.Buffer
				d := newDemux(&out, &err, "tag", c.exact)
				for at := 0; at < len(c.log); at += size {
					d.Write([]byte(c.log[at:min(at+size, len(c.log))]))
				}
				d.out.rest()
				d.err.rest()
				if out.String() != c.out || err.String() != c.err {
					t.Fatalf("in pieces of %d: stdout %q, stderr %q; want %q, %q", size, &out, &err, c.out, c.err)
				}
				if d.out.ended != c.ended || d.err.ended != c.ended || c.ended && d.out.code != 7 {
					t.Fatalf("in pieces of %d: ended: %v %v, code %d", size, d.out.ended, d.err.ended, d.out.code)
				}
			}
		})
	}
}

// FuzzDemux cuts any log anywhere: what comes out must not depend on where.
func FuzzDemux(f *testing.F) {
	f.Add([]byte(out1+"a\n"+err1+"b\n"+out1+"\n"+out1+"~rbx tag 0\n"), 3)
	f.Add([]byte("\x01\x01\x02\n\n\n"), 1)
	f.Fuzz(func(t *testing.T, log []byte, size int) {
		if size < 1 {
			t.Skip()
		}
		run := func(size int) (string, string, bool) {
			var out, err bytes.Buffer
			d := newDemux(&out, &err, "tag", true)
			for at := 0; at < len(log); at += size {
				d.Write(log[at:min(at+size, len(log))])
			}
			d.out.rest()
			d.err.rest()
			return out.String(), err.String(), d.out.ended
		}
		o1, e1, x1 := run(len(log) + 1)
		o2, e2, x2 := run(min(size, len(log)+1))
		if o1 != o2 || e1 != e2 || x1 != x2 {
			t.Errorf("whole: %q %q %v; in pieces of %d: %q %q %v", o1, e1, x1, size, o2, e2, x2)
		}
	})
}
