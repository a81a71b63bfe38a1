//go:build !remotebox_runner

package dockerfile

import (
	"path"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// copy translates COPY, and what ADD has in common with it.
func (t *translator) copy(kind string, n *parser.Node, args []string) error {
	c := &Copy{Owner: "root:root"}
	for _, f := range n.Flags {
		if err := t.copyFlag(kind, f, c); err != nil {
			return err
		}
	}
	if len(args) < 2 {
		return t.fail("%s takes sources and a destination", kind)
	}
	v := t.known()
	docs := map[string]*parser.Heredoc{}
	for i := range n.Heredocs {
		docs[n.Heredocs[i].Name] = &n.Heredocs[i]
	}
	for _, a := range args[:len(args)-1] {
		if doc := parser.MustParseHeredoc(a); doc != nil && docs[doc.Name] != nil && !n.Attributes["json"] {
			if err := t.inline(c, docs[doc.Name], v); err != nil {
				return err
			}
			continue
		}
		src, err := t.expand(a, v)
		if err != nil {
			return err
		}
		if src, err = t.source(kind, src); err != nil {
			return err
		}
		c.Sources = append(c.Sources, src)
	}
	dest, err := t.expand(args[len(args)-1], v)
	if err != nil {
		return err
	}
	if c.Dest, err = t.destination(dest); err != nil {
		return err
	}
	if len(args) > 2 && !strings.HasSuffix(c.Dest, "/") {
		return t.fail("%s of several sources: the destination must be a directory and end with /", kind)
	}
	t.out.Steps = append(t.out.Steps, Step{Type: "COPY", Line: t.line, Text: t.text, Copy: c})
	return nil
}

func (t *translator) copyFlag(kind, flag string, c *Copy) error {
	name, value, _ := strings.Cut(flag, "=")
	value, err := t.expand(value, t.known())
	if err != nil {
		return err
	}
	switch name {
	case "--chown":
		return t.owner(value, c)
	case "--chmod":
		if len(value) < 3 || len(value) > 4 || strings.Trim(value, "01234567") != "" {
			return t.fail("%s --chmod=%s: write the mode in octal, such as 0755", kind, value)
		}
		c.Mode = value
	case "--link":
		// What it says about layers makes no difference to the files.
	case "--from":
		return t.fail("%s --from: E2B builds one stage only; copy the files into the context", kind)
	default:
		return t.fail("%s %s can't be done on E2B", kind, name)
	}
	return nil
}

// owner takes --chown. A user without a group is in its own group, or in the one of its number.
func (t *translator) owner(value string, c *Copy) error {
	user, group, grouped := strings.Cut(value, ":")
	if user == "" {
		user = "root"
	}
	if !grouped {
		group = "" // chown's own sign for the user's group
		if strings.Trim(user, "0123456789") == "" {
			group = user
		}
	}
	if !validName(user) || !validName(group) {
		return t.fail("--chown=%s names no user", value)
	}
	c.Owner = user + ":" + group
	return nil
}

// source is a source as it is found in the context.
func (t *translator) source(kind, src string) (string, error) {
	if strings.Contains(src, "://") || strings.HasPrefix(src, "git@") {
		return "", t.fail("%s of a URL: E2B's builder fetches nothing; use RUN with curl or git", kind)
	}
	if kind == "ADD" {
		for _, ext := range []string{".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst"} {
			if strings.HasSuffix(strings.ToLower(src), ext) {
				return "", t.fail("ADD of an archive would unpack it; use COPY and RUN tar")
			}
		}
	}
	// As in Docker, the context is the root: nothing leads out of it.
	return strings.TrimPrefix(path.Clean("/"+src), "/"), nil
}

// destination is an absolute path, with a slash at its end where it has to be a directory.
func (t *translator) destination(dest string) (string, error) {
	if dest == "" {
		return "", t.fail("the destination is empty")
	}
	dir := strings.HasSuffix(dest, "/") || path.Base(dest) == "." || path.Base(dest) == ".."
	if !path.IsAbs(dest) {
		dest = path.Join(t.workdir, dest)
	}
	if dest = path.Clean(dest); dir && dest != "/" {
		dest += "/"
	}
	return dest, t.safe("the destination", dest)
}

// inline takes a here-document, whose name is the file's unless the destination says otherwise.
func (t *translator) inline(c *Copy, d *parser.Heredoc, v variables) error {
	text := content(d)
	if d.Expand {
		lex := *t.lex
		lex.SkipProcessQuotes = true
		out, unset, err := lex.ProcessWord(text, v)
		if err != nil {
			return err
		}
		if name, ok := t.missing(unset); ok {
			return t.fail("$%s in the here-document is not set in this Dockerfile; write its value out, or <<\"%s\" to leave every $ as it is", name, d.Name)
		}
		text = out
	}
	if strings.Contains(text, open) {
		return t.fail("a here-document depends on a variable of the base image; write its value out")
	}
	c.Inline = append(c.Inline, File{d.Name, []byte(text)})
	return nil
}
