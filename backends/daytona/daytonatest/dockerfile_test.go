//go:build unix && !remotebox_runner

package daytonatest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseDockerfile(t *testing.T) {
	got, err := parseDockerfile("# syntax\r\nARG A=1\nfrom x AS y\nRUN --mount=type=cache,target=/c a && \\\n  # no\n\n  b\nCOPY --chown=1:2 [\"a b\", \"c\"]\nRUN <<'X'\n one\n# two\nX\nCMD [not json\n")
	if err != nil {
		t.Fatal(err)
	}
	none := map[string]string{}
	want := []instruction{
		{line: 2, name: "ARG", flags: none, rest: "A=1"},
		{line: 3, name: "FROM", flags: none, rest: "x AS y"},
		{line: 4, name: "RUN", flags: map[string]string{"mount": "type=cache,target=/c"}, rest: "a && b"},
		{line: 8, name: "COPY", flags: map[string]string{"chown": "1:2"}, rest: `["a b", "c"]`, exec: []string{"a b", "c"}},
		{line: 9, name: "RUN", flags: none, rest: "<<'X'", here: " one\n# two\n"},
		{line: 13, name: "CMD", flags: none, rest: "[not json"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(instruction{})); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "# nothing", "ARG A", "RUN true\nFROM x", "FROM x\nNOPE"} {
		if _, err := parseDockerfile(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestPairs(t *testing.T) {
	for text, want := range map[string][][2]string{
		`A=1 B="two words" C='$x' D=a\ b`: {{"A", "1"}, {"B", "two words"}, {"C", "$x"}, {"D", "a b"}},
		"A b c":                           {{"A", "b c"}},
		"A=":                              {{"A", ""}},
	} {
		if diff := cmp.Diff(want, pairs(text)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	vars := map[string]string{"A": "1"}
	if got := expand("$A ${A} ${B} ${B:-none} ${A:-none} ${A:+set} ${B:+set}", vars); got != "1 1  none 1 set " {
		t.Errorf("%q", got)
	}
}
