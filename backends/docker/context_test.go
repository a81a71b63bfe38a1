//go:build !remotebox_runner

package docker

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	bk "github.com/moby/buildkit/client"
	"github.com/tonistiigi/fsutil"

	"github.com/remote-box/remote/imagehash"
)

// What is hashed, and sent, is what the engine's own frontend copies for COPY . /ctx.
func TestContextIsWhatDockerCopies(t *testing.T) {
	e, err := Backend{}.connect(t.Context())
	if err != nil {
		if os.Getenv("CI") == "true" || os.Getenv("REMOTE_BOX_REQUIRE_DOCKER") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	defer e.close()
	b, err := e.builder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, ignore := range []string{
		"",
		"# a comment\n\n",
		"\ufeffa.txt\r\nsrc\r\n",
		"*",
		"*\n!src",
		"*\n!src/**",
		"*\n!src/main.go",
		"**\n!**/*.go",
		"*.txt",
		"**/*.txt",
		"*/*.txt",
		"/a.txt",
		"./a.txt",
		"src/",
		"src/*",
		"src/**",
		"src/**/deep",
		"**/deep",
		"**/deep/*\n!**/deep/c.txt",
		"deep",
		"docs\n!docs/b.md",
		"docs\n!docs",
		"docs/*\n!docs/b.md\ndocs/b.md",
		"!a.txt\na.txt",
		"a.txt\n!a.txt",
		"a?txt",
		"[ab].txt",
		"[^a].txt",
		"\\#odd",
		"\\!odd",
		"  a.txt  ",
		"with space",
		"link",
		"linkdir",
		"linkdir/main.go",
		"empty",
		"empty/*",
		"src/../a.txt",
		"..",
		"docs/\n!docs/sub/",
		"**/sub/**\n!docs/sub/x.md",
		"*.md\n!README*.md\nREADME-secret.md",
		".dockerignore\nDockerfile",
	} {
		t.Run(ignore, func(t *testing.T) {
			root := contextRoot(t, ignore)
			tree, err := imagehash.Walk(t.Context(), root, imagehash.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var ours []string
			for e := range tree.Entries() {
				ours = append(ours, e.Path)
			}
			slices.Sort(ours)
			if real := copied(t, b, root); !slices.Equal(ours, real) {
				t.Errorf("hashed:\n%q\ncopied:\n%q", ours, real)
			}
			slices.Sort(ours)
			if sent := walked(t, contextTree(tree)); !slices.Equal(ours, sent) {
				t.Errorf("hashed:\n%q\nsent:\n%q", ours, sent)
			}
		})
	}
}

func contextRoot(t *testing.T, ignore string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{
		"Dockerfile", "a.txt", "b.txt", "axtxt", "#odd", "!odd", "with space", "README.md", "README-secret.md",
		"src/main.go", "src/a.txt", "src/deep/c.txt", "src/deep/er/d.txt", "src/deep/x.go", "deep/e.txt",
		"docs/a.md", "docs/b.md", "docs/sub/x.md", "docs/sub/y.md", "a-b/c", "a/b/c",
	} {
		p := filepath.Join(root, filepath.FromSlash(name))
		content := name
		if name == "Dockerfile" {
			content = "FROM scratch\nCOPY . /ctx\n"
		}
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		os.Mkdir(filepath.Join(root, "empty"), 0o755),
		os.Symlink("a.txt", filepath.Join(root, "link")),
		os.Symlink("nowhere", filepath.Join(root, "dangling")),
		os.Symlink("src", filepath.Join(root, "linkdir")),
		os.WriteFile(filepath.Join(root, ".dockerignore"), []byte(ignore), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// copied is what the engine's own Dockerfile frontend copies, without any code of ours.
func copied(t *testing.T, b *builder, root string) []string {
	t.Helper()
	dir, err := fsutil.NewFS(root)
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	_, err = b.Solve(t.Context(), nil, bk.SolveOpt{
		Frontend:    "dockerfile.v0",
		LocalMounts: map[string]fsutil.FS{"context": dir, "dockerfile": dir},
		Exports:     []bk.ExportEntry{{Type: bk.ExporterLocal, OutputDir: out}},
		SharedKey:   root,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return listed(t, filepath.Join(out, "ctx"))
}

// listed lists what is in a directory.
func listed(t *testing.T, dir string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		paths = append(paths, filepath.ToSlash(rel))
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}

// walked lists a file system as a builder sees it.
func walked(t *testing.T, f fsutil.FS) []string {
	t.Helper()
	filtered, err := fsutil.NewFilterFS(f, &fsutil.FilterOpt{})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	err = filtered.Walk(t.Context(), "", func(p string, _ fs.DirEntry, err error) error {
		paths = append(paths, filepath.ToSlash(p))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}
