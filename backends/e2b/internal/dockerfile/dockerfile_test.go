//go:build !remotebox_runner

package dockerfile

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/remote-box/remote/internal/needs"
)

// show writes steps so that a test can say what it wants, without what all Dockerfiles begin with
// and what comes before every command.
func show(d *Dockerfile) string {
	var b strings.Builder
	for _, s := range d.Steps[2:] {
		fmt.Fprintf(&b, "%d %s", s.Line, s.Type)
		for _, a := range s.Args {
			if _, command, ok := strings.Cut(a, ownPath); ok && s.Type == "RUN" {
				a = command
			}
			fmt.Fprintf(&b, " %q", a)
		}
		if c := s.Copy; c != nil {
			fmt.Fprintf(&b, " %q -> %q %s %s", c.Sources, c.Dest, c.Owner, c.Mode)
			for _, f := range c.Inline {
				fmt.Fprintf(&b, " %s=%q", f.Name, f.Data)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestTranslate(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"shell form", "RUN echo hi", `2 RUN "exec '/bin/sh' '-c' 'echo hi'"`},
		{"quotes", `RUN echo "it's"`, `2 RUN "exec '/bin/sh' '-c' 'echo \"it'\\''s\"'"`},
		{"continuation", "RUN a && \\\n  b", `2 RUN "exec '/bin/sh' '-c' 'a &&   b'"`},
		{"exec form", `RUN ["a", "b c", "$X"]`, `2 RUN "exec 'a' 'b c' '$X'"`},
		{"not JSON", `RUN ['a']`, `2 RUN "exec '/bin/sh' '-c' '['\\''a'\\'']'"`},
		{"heredoc", "RUN <<E\na\n b\nE", `2 RUN "exec '/bin/sh' '-c' 'a\n b\n'"`},
		{"heredoc, tabs", "RUN <<-E\n\ta\nE", `2 RUN "exec '/bin/sh' '-c' 'a\n'"`},
		{"heredoc, command", "RUN cat <<E >x\na\nE", `2 RUN "exec '/bin/sh' '-c' 'cat <<E >x\na\nE'"`},
		{"shell", "SHELL [\"/bin/bash\", \"-ec\"]\nRUN a", `3 RUN "exec '/bin/bash' '-ec' 'a'"`},
		{"env", `ENV A=1 B="two words" C='$A' D=\$A E=$A`, `2 ENV "A" "1" "B" "two words" "C" "DOLLARA" "D" "DOLLARA" "E" ""`},
		{"env, earlier", "ENV A=1\nENV B=$A-${A}x", "2 ENV \"A\" \"1\"\n3 ENV \"B\" \"1-1x\""},
		{"env, old form", "ENV A b  c", `2 ENV "A" "b  c"`},
		{"env, path", "ENV PATH=/a:$PATH\nENV PATH=/b:${PATH}", "2 ENV \"PATH\" \"/a:${PATH}\"\n3 ENV \"PATH\" \"/b:/a:${PATH}\""},
		{"env, path, if set", "ENV PATH=/a${PATH:+:$PATH}", `2 ENV "PATH" "/a:${PATH}"`},
		{"env, default", "ENV A=${B:-d}", `2 ENV "A" "d"`},
		{"env, if set", "ENV A=1\nENV B=${A:+yes}", "2 ENV \"A\" \"1\"\n3 ENV \"B\" \"yes\""},
		{"env, backslash", `ENV A="a\\b"`, `2 ENV "A" "a\\b"`},
		{"arg", "ARG A=1\nARG B=\"$A 2\"\nRUN x", `4 RUN "export A='1'; export B='1 2'; exec '/bin/sh' '-c' 'x'"`},
		{"arg, no value", "ARG X\nARG Y=${X-unset}\nENV Z=${X:-z} W=$X\nRUN x", "4 ENV \"Z\" \"z\" \"W\" \"\"\n5 RUN \"export Y='unset'; exec '/bin/sh' '-c' 'x'\""},
		{"arg, value kept", "ARG X=1\nARG X\nRUN x", `4 RUN "export X='1'; exec '/bin/sh' '-c' 'x'"`},
		{"arg, env wins", "ARG A=1\nENV A=2\nRUN x", "3 ENV \"A\" \"2\"\n4 RUN \"exec '/bin/sh' '-c' 'x'\""},
		{"arg, platform", "ARG TARGETARCH\nCOPY a-$TARGETARCH /b", `3 COPY ["a-amd64"] -> "/b" root:root `},
		{"copy", "COPY a b c/", `2 COPY ["a" "b"] -> "/c/" root:root `},
		{"copy, JSON", `COPY ["a b", "/c d"]`, `2 COPY ["a b"] -> "/c d" root:root `},
		{"copy, all", "WORKDIR /w\nCOPY . .", "2 WORKDIR \"/w\"\n3 COPY [\"\"] -> \"/w/\" root:root "},
		{"copy, flags", "COPY --chown=me:us --chmod=755 --link a /b", `2 COPY ["a"] -> "/b" me:us 755`},
		{"copy, own group", "COPY --chown=me a /b", `2 COPY ["a"] -> "/b" me: `},
		{"copy, number", "COPY --chown=7 a /b", `2 COPY ["a"] -> "/b" 7:7 `},
		{"copy, parent", "COPY ../../x /b", `2 COPY ["x"] -> "/b" root:root `},
		{"copy, heredoc", "ARG V=1\nCOPY <<A <<\"B\" /d/\n$V '$V'\nA\n$V\nB", `3 COPY [] -> "/d/" root:root  A="1 '1'\n" B="$V\n"`},
		{"copy, heredoc of a script", "COPY <<A /d/\n[$1] [$@]\nA", `2 COPY [] -> "/d/" root:root  A="[] []\n"`},
		{"add", "ADD a /b", `2 COPY ["a"] -> "/b" root:root `},
		{"workdir", "ENV D=x\nWORKDIR /a/../b\nWORKDIR $D", "2 ENV \"D\" \"x\"\n3 WORKDIR \"/b\"\n4 WORKDIR \"/b/x\""},
		{"user", "ARG U=me\nUSER $U\nUSER 0:0", "3 USER \"me\"\n4 USER \"root\""},
		{"ignored", "LABEL a=b\nEXPOSE 1\nVOLUME /v\nCMD x\nENTRYPOINT [\"y\"]\nSTOPSIGNAL 9\nHEALTHCHECK --interval=1s CMD z\nMAINTAINER m\nONBUILD RUN x", ""},
		{"escape", "# nothing", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := Translate([]byte("FROM debian:12\n" + c.src + "\n"))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(strings.TrimRight(show(d), "\n"), dollar, "DOLLAR")
			if c.name == "env" {
				// Which variables of one line another one sees is as in BuildKit: those of earlier lines.
				c.want = strings.Replace(c.want, `"E" ""`, `"E" "${A}"`, 1)
			}
			if got != c.want {
				t.Errorf("%s\nbecame\n%s\nnot\n%s", c.src, got, c.want)
			}
		})
	}
}

func TestFrom(t *testing.T) {
	d, err := Translate([]byte("ARG V=12\nARG I=debian:$V\nFROM --platform=$TARGETPLATFORM $I AS x\n"))
	if err != nil || d.From != "debian:12" || d.FromLine != 3 {
		t.Fatalf("%+v, %v", d, err)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		src  string
		line int
		says string
	}{
		{"", 0, ""},
		{"ARG A\n", 0, "no FROM"},
		{"RUN x\nFROM a", 1, "before FROM"},
		{"FROM a\nFROM b", 2, "one stage"},
		{"FROM scratch", 1, "scratch"},
		{"FROM $X", 1, "no image"},
		{"\nFROM debian:$X", 2, "$X is not set"},
		{"ARG X\nFROM debian:$X", 2, "no image"},
		{"FROM a\nARG M=$PATH", 2, "$PATH is not set"},
		{"FROM a\nENV PATH=/x:$PATH\nARG M=$PATH\nRUN y", 3, "base image"},
		{"FROM a\nENV PATH=${PATH%:*}", 2, "part of PATH"},
		{"FROM a\nCOPY <<E /x\nexport PATH=/opt/bin:$PATH\nE", 2, "$PATH in the here-document"},
		{"ARG X\nFROM a\nCOPY $X /c", 3, "$X is not set"},
		{"FROM --platform=linux/arm64 a", 1, "linux/amd64"},
		{"FROM a\nRUN --mount=type=cache,target=/x y", 2, "--mount"},
		{"FROM a\nRUN --network=none y", 2, "--network"},
		{"FROM a\n\nCOPY --from=b /x /y", 3, "--from"},
		{"FROM a\nCOPY --parents x /y", 2, "--parents"},
		{"FROM a\nCOPY --chmod=u+x x /y", 2, "octal"},
		{"FROM a\nADD https://a/b /y", 2, "URL"},
		{"FROM a\nADD git@a:b /y", 2, "URL"},
		{"FROM a\nADD x.tar.gz /y", 2, "archive"},
		{"FROM a\nADD --checksum=sha256:x a /y", 2, "--checksum"},
		{"FROM a\nCOPY a b /c", 2, "end with /"},
		{"FROM a\nCOPY $X /c", 2, "$X is not set"},
		{"FROM a\nENV P=$PATH\nWORKDIR $P", 3, "base image"},
		{"FROM a\nUSER 1000", 2, "by name"},
		{"FROM a\nUSER me:us", 2, "group"},
		{"FROM a\nCOPY a \"/a\\\"b\"", 2, "quotes"},
		{"FROM a\nCOPY a", 2, ""},
		{"FROM a\nENV A", 2, ""},
		{"FROM a\nFOO x", 2, "unknown instruction"},
		{"FROM a\nWORKDIR", 2, ""},
		{"FROM a\nRUN", 2, ""},
		{"FROM a\nSHELL sh", 2, "list"},
		{"FROM a\nRUN <<E\nx", 2, ""},
	} {
		d, err := Translate([]byte(c.src))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q became %+v, %v", c.src, d, err)
			continue
		}
		if e.Line != c.line || !strings.Contains(e.Reason, c.says) {
			t.Errorf("%q: %v", c.src, e)
		}
	}
}

// TestCommand has a shell run what was made of commands, as E2B's builder does.
func TestCommand(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		needs.Missing(t, "there is no bash")
	}
	for _, c := range []struct{ src, want string }{
		{"RUN echo \"a  b\" 'c' \\$X", "a  b c $X\n"},
		{"ARG X=\"it's\"\nRUN echo $X", "it's\n"},
		{`RUN ["printf", "%s|", "a b", "$X", "'"]`, "a b|$X|'|"},
		{"RUN <<E\necho one\necho two\nE", "one\ntwo\n"},
		{"RUN cat <<E\n$HOME_OF\nE", "\n"},
		{"RUN <<E\n#!/bin/bash\n[[ x == x ]] && echo \"bash $# $0\" | tr -d /tmp.\nE", ""},
		{"RUN echo $PATH", "/from/docker:/usr/bin:/bin\n"},
		{"RUN echo $p$f$s", "hello\n"},
		{"ENV f=x\nRUN <<E\n#!/bin/bash\necho \"$p $f\"\nE", "hello x\n"},
		{"ARG X\nRUN echo ${X-unset}", "unset\n"},
	} {
		d, err := Translate([]byte("FROM a\n" + c.src))
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(bash, "-c", "PATH=/login/shell:/usr/bin:/bin; "+d.Steps[len(d.Steps)-1].Args[0])
		cmd.Env = []string{"PATH=/from/docker:/usr/bin:/bin", "p=hello"}
		for _, s := range d.Steps {
			if s.Type == "ENV" {
				cmd.Env = append(cmd.Env, s.Args[0]+"="+s.Args[1])
			}
		}
		out, err := cmd.CombinedOutput()
		if err != nil || c.want != "" && string(out) != c.want {
			t.Errorf("%s\nprinted %q, not %q (%v)", c.src, out, c.want, err)
		}
	}
}

// TestBuilderValue has a shell expand values as E2B's builder does.
func TestBuilderValue(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		needs.Missing(t, "there is no bash")
	}
	for _, value := range []string{"", "plain", "$HOME", "a$", "$(date)", "`date`", `a\b\\c`, `"q"`, "${X:-y}", "two\nlines", "$$", "!x", "it's", "%s", `\$X`} {
		// E2B infra, commands/env.go.
		sent := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", "$(", "\\$(").Replace(forBuilder(value))
		out, err := exec.Command(bash, "-c", `printf "%s" "`+sent+`"`).CombinedOutput()
		if err != nil || string(out) != value {
			t.Errorf("%q became %q (%v)", value, out, err)
		}
	}
}

// FuzzTranslate checks that nothing makes the translation fail without a reason, and that what it
// gives is what E2B's builder takes.
func FuzzTranslate(f *testing.F) {
	for _, src := range []string{
		"FROM a\nRUN x", "ARG A=1\nFROM a:$A\nENV B=\"$A\" C='x'\nCOPY --chown=a:b . ./\n", "FROM a\nRUN <<E\nx\nE\n",
		"FROM a\nCOPY <<E /x\n$A\nE\n", "# escape=`\nFROM a\nRUN x `\n y", "FROM a\nENV PATH=/x:$PATH\nWORKDIR $PATH",
		"FROM a\nSHELL [\"x\"]\nUSER me\nADD [\"a\", \"b\"]", "FROM a\nENV A=${B:-${C:+x}}",
	} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		d, err := Translate([]byte(src))
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Reason == "" {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		if d.From == "" || len(d.Steps) < 2 {
			t.Fatalf("%+v", d)
		}
		for _, s := range d.Steps {
			switch s.Type {
			case "RUN", "USER", "WORKDIR":
				if len(s.Args) != 1 || s.Args[0] == "" {
					t.Fatalf("%+v", s)
				}
			case "ENV":
				if len(s.Args) == 0 || len(s.Args)%2 != 0 {
					t.Fatalf("%+v", s)
				}
			case "COPY":
				if s.Copy == nil || !strings.HasPrefix(s.Copy.Dest, "/") || len(s.Copy.Sources)+len(s.Copy.Inline) == 0 {
					t.Fatalf("%+v", s)
				}
				for _, src := range s.Copy.Sources {
					if strings.HasPrefix(src, "/") || strings.HasPrefix(src, "../") || src == ".." {
						t.Fatalf("the source %q", src)
					}
				}
			default:
				t.Fatalf("%+v", s)
			}
			for _, a := range s.Args {
				if strings.Contains(a, open) {
					t.Fatalf("%q", s.Args)
				}
			}
		}
	})
}

// TestWarnings checks what is said of the base image's own configuration, which is not known.
func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		src  string
		says []string
	}{
		{"FROM a", []string{"another USER", "another WORKDIR"}},
		{"FROM a\nUSER me", []string{"another WORKDIR"}},
		{"FROM a\nWORKDIR /w\nUSER me", nil},
		{"FROM a\nWORKDIR /w\nUSER me\nENV PATH=/x:$PATH", []string{"golang"}},
		{"FROM a\nWORKDIR /w\nUSER me\nENV A=$HOME B=$A", []string{"$HOME", "$A"}},
	} {
		d, err := Translate([]byte(c.src))
		if err != nil {
			t.Fatal(err)
		}
		ok := len(d.Warnings) == len(c.says)
		for i := 0; ok && i < len(c.says); i++ {
			ok = strings.Contains(d.Warnings[i].Text, c.says[i]) && d.Warnings[i].Line > 0
		}
		if !ok {
			t.Errorf("%q: %+v, not %q", c.src, d.Warnings, c.says)
		}
	}
}
