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
	begin := out1 + "~rbb tag\n" + err1 + "\n" + err1 + "~rbb tag\n"
	end := out1 + "~rbx tag 7\n" + err1 + "\n" + err1 + "~rbx tag 7\n"
	for _, c := range []struct {
		name, log, out, err string
		exact, ended        bool
		shared              bool
	}{
		{"lines", out1 + "a\n" + err1 + "b\n" + out1 + "c\n" + out1 + "\n" + end, "a\nc\n", "b\n", true, true, false},
		{"stderr", err1 + "b\n" + out1 + "\n" + end, "", "b\n", true, true, false},
		{"no newline at the end", out1 + "a\n" + end, "a", "", true, true, false},
		{"two newlines at the end", out1 + "a\n" + out1 + "\n" + out1 + "\n" + end, "a\n\n", "", true, true, false},
		{"frames are not held back", out1 + "frame\n", "frame\n", "", false, false, false},
		{"nothing", out1 + "\n" + end, "", "", true, true, false},
		{"another command's end", out1 + "~rbx other 0\n" + out1 + "\n" + end, "~rbx other 0\n", "", true, true, false},
		{"an end that is none", out1 + "~rbx tag x\n" + out1 + "\n" + end, "~rbx tag x\n", "", true, true, false},
		{"nearly an end", out1 + "~rbx tag\n" + out1 + "\n" + end, "~rbx tag\n", "", true, true, false},
		{"lines without marks", "a\n" + err1 + "b\nc\n" + out1 + "d\n" + out1 + "\n" + end, "a\nd\n", "b\nc\n", true, true, false},
		{"half a mark", out1 + "a\n" + "\x01\x01b\n" + out1 + "\n" + end, "a\n\x01\x01b\n", "", true, true, false},
		{"a mark inside a line", out1 + "a" + err1 + "b\n" + out1 + "\n" + end, "a" + err1 + "b\n", "", true, true, false},
		{"what follows the end", out1 + "\n" + end + out1 + "late\n", "", "", true, true, false},
		{"no end", out1 + "a\n" + out1 + "~rbx ta", "a\n~rbx ta", "", true, false, false},
		{"what others print before", out1 + "late" + "\n" + err1 + "late\n" + out1 + "\n" + begin + out1 + "a\n" + out1 + "\n" + end, "a\n", "", true, true, true},
		{"other marks before", out1 + "~rbx other 0\n" + out1 + "~rbb other\n" + out1 + "~rbb\n" + out1 + "half" + "\n" + begin + end, "", "", true, true, true},
		{"one stream begins late", out1 + "~rbb tag\n" + err1 + "not its\n" + out1 + "a\n" + err1 + "~rbb tag\n" + err1 + "b\n" + out1 + "\n" + end, "a\n", "b\n", true, true, true},
		{"its beginning is printed again", begin + begin + out1 + "\n" + end, "~rbb tag\n", "\n~rbb tag\n", true, true, true},
		{"an end without a beginning", out1 + "a\n" + out1 + "\n" + end, "", "", true, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for size := 1; size <= len(c.log); size++ {
				var out, err bytes.Buffer
				d := newDemux(&out, &err, "tag", c.exact, c.shared)
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
	f.Add([]byte(out1+"late\n"+out1+"~rbb tag\n"+err1+"a\n"+out1+"\n"+out1+"~rbx tag 0\n"), 3)
	f.Fuzz(func(t *testing.T, log []byte, size int) {
		if size < 1 {
			t.Skip()
		}
		shared := bytes.Contains(log, []byte("~rbb"))
		run := func(size int) (string, string, bool) {
			var out, err bytes.Buffer
			d := newDemux(&out, &err, "tag", true, shared)
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
