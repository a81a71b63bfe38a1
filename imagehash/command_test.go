package imagehash

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// oddNames cannot be confused with one another, sorted differently, or taken for options, by anybody.
func oddNames() []string {
	return []string{
		"-n", "--", " lead", "trail ", "a b", "a\nb", "a\nf 0 b", "\n", "tab\tname", "quo'te", `quo"te`, `back\slash`, "$(x)", "`x`",
		"star*.txt", "q?", "[x]", "!bang", "#hash", "ünï", "e\u0301", "latin1-\xe9", "\xff\xfe", "\x01", "~", "a", "a.b", "a-b/", "a0",
		"dir/-rf", "dir/x\n/y", "dir/a", "dir.d/a", "dir-/a", "...", ".hidden", "CON", "name:colon",
	}
}

func TestDigestIsTheDocumentedCommand(t *testing.T) {
	command := documentedCommand(t)
	trees := map[string][]string{
		"empty":    nil,
		"file":     {"a"},
		"kinds":    {"a", "bin/run*", "empty/", "link -> a", "dangling -> no/where", "up -> ../..", "todir -> bin", "nl -> x\n"},
		"odd":      oddNames(),
		"ordering": {"a/b", "a.b", "a-b", "ab/", "a!b/c", "a/b.c", "B", "é"},
	}
	for name, files := range trees {
		t.Run(name, func(t *testing.T) {
			root := lay(t, files...)
			if got, want := mustWalk(t, root, Options{}).Digest().String(), shellDigest(t, command, root); got != want {
				t.Errorf("Digest() = %s, the documented command says %s", got, want)
			}
		})
	}
}

func TestDigestIsThatOfTheUnpackedArchive(t *testing.T) {
	command := documentedCommand(t)
	root := lay(t, append(oddNames(), "node_modules/x/y", "skip/me", "keep/me*", "l -> keep/me", ".env")...)
	write(t, root, ignoreName, "skip\n")
	tree := mustWalk(t, root, Options{})
	unpacked := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "tar", "--extract", "--no-same-owner", "--file", "-")
	cmd.Dir = unpacked
	stdin, err := cmd.StdinPipe()
	check(t, err)
	check(t, cmd.Start())
	check(t, tree.WriteTar(t.Context(), stdin))
	check(t, stdin.Close())
	check(t, cmd.Wait())
	if got, want := shellDigest(t, command, unpacked), tree.Digest().String(); got != want {
		t.Errorf("the documented command on the unpacked archive says %s, Digest() = %s", got, want)
	}
}

// documentedCommand is the code block of the package comment.
func documentedCommand(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the command is documented for Linux")
	}
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	check(t, err)
	var blocks []string
	for _, block := range parseDoc(file) {
		if code, ok := block.(*comment.Code); ok {
			blocks = append(blocks, code.Text)
		}
	}
	if len(blocks) != 1 {
		t.Fatalf("the package comment has %d code blocks, want the one with the command", len(blocks))
	}
	return blocks[0]
}

func parseDoc(file *ast.File) []comment.Block {
	return new(comment.Parser).Parse(file.Doc.Text()).Content
}

func shellDigest(t *testing.T, command, dir string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	check(t, err)
	digits, rest, _ := strings.Cut(string(out), " ")
	if strings.TrimSpace(rest) != "-" {
		t.Fatalf("the documented command printed %q", out)
	}
	return digestPrefix + digits
}
