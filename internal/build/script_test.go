package build_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var updateScripts = flag.Bool("update", false, "rewrite the expected output in the scripts")

// TestScripts builds and runs programs as their users do. The scripts' go.mod and go.work files
// may say $REPO for this module's directory.
func TestScripts(t *testing.T) {
	repo := repoRoot(t)
	// The go command keeps the results of tests by what they read themselves.
	if err := repoFiles(repo, func(string, []byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *updateScripts,
		Setup: func(e *testscript.Env) error {
			for _, v := range userEnv(repo, e.WorkDir, goSetting("GOCACHE")) {
				name, value, _ := strings.Cut(v, "=")
				e.Setenv(name, value)
			}
			return nameRepo(e.WorkDir, repo)
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "cc":
				return haveCC()
			case "root":
				return os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"snapshot": cmdSnapshot,
			"readonly": cmdReadonly,
			"copyrepo": cmdCopyRepo,
			"publish":  cmdPublish,
			"runners":  cmdRunners,
			"append":   cmdAppend,
			"edit":     cmdEdit,
		},
	})
}

// userEnv is the environment of a user's shell, whose directory for everything is work.
func userEnv(repo, work, gocache string) []string {
	return []string{
		"REPO=" + repo,
		"HOME=" + filepath.Join(work, ".home"),
		"REMOTE_BOX_CACHE=" + filepath.Join(work, ".remote-box"),
		"GOCACHE=" + gocache,
		"GOPATH=" + filepath.Join(work, ".gopath"),
		"GOMODCACHE=" + filepath.Join(work, ".modcache"),
		"GOENV=" + filepath.Join(work, ".goenv"),
		"GOPROXY=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOFLAGS=",
	}
}

// nameRepo writes this module's directory into the go.mod and go.work files below dir.
func nameRepo(dir, repo string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "go.mod" && d.Name() != "go.work" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, bytes.ReplaceAll(b, []byte("$REPO"), []byte(repo)), 0o666)
	})
}

func repoRoot(t testing.TB) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func goSetting(name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(out))
}

// haveCC reports whether there is a C compiler. In CI there has to be one.
func haveCC() (bool, error) {
	if _, err := exec.LookPath(goSetting("CC")); err == nil {
		return true, nil
	}
	if os.Getenv("CI") != "" {
		return false, errors.New("CI has no C compiler, so that nothing with cgo would be tested")
	}
	return false, nil
}

// cmdSnapshot writes what there is in a directory to a file: names, modes, times and digests.
func cmdSnapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: snapshot dir file")
	}
	dir := ts.MkAbs(args[0])
	var b strings.Builder
	ts.Check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum := ""
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum = fmt.Sprintf("%x", sha256.Sum256(content))
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%s %s %d %s\n", rel, info.Mode(), info.ModTime().UnixNano(), sum)
		return nil
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o600))
}

// cmdReadonly forbids writing to a directory and everything in it. It does not stop root, whom a
// snapshot has to find out.
func cmdReadonly(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: readonly dir")
	}
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chmod(path, info.Mode().Perm()&^0o222)
	}))
}

// repoFiles calls f for the files of this module that other modules can build with.
func repoFiles(root string, f func(rel string, content []byte) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && (name[0] == '.' || name == "testdata" || name == "backendtest" || err == nil) {
				return fs.SkipDir
			}
			return nil
		}
		if name != "go.mod" && filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // an editor's
		}
		rel, _ := filepath.Rel(root, path)
		return errors.Join(err, f(rel, content))
	})
}

// cmdCopyRepo copies this module.
func cmdCopyRepo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: copyrepo dir")
	}
	ts.Check(repoFiles(ts.Getenv("REPO"), func(rel string, content []byte) error {
		path := filepath.Join(ts.MkAbs(args[0]), rel)
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, content, 0o666))
	}))
}

// cmdPublish puts a version of a module into the proxy at $WORK/proxy: a directory, or $REPO.
func cmdPublish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: publish module version dir")
	}
	module, version, dir := args[0], args[1], args[2]
	at := filepath.Join(ts.Getenv("WORK"), "proxy", filepath.FromSlash(module), "@v")
	ts.Check(os.MkdirAll(at, 0o777))
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	ts.Check(repoFiles(ts.MkAbs(dir), func(rel string, content []byte) error {
		if rel == "go.mod" {
			if err := os.WriteFile(filepath.Join(at, version+".mod"), content, 0o666); err != nil {
				return err
			}
		}
		w, err := z.Create(module + "@" + version + "/" + filepath.ToSlash(rel))
		if err == nil {
			_, err = w.Write(content)
		}
		return err
	}))
	ts.Check(z.Close())
	info, err := json.Marshal(map[string]string{"Version": version})
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(at, version+".zip"), zipped.Bytes(), 0o666))
	ts.Check(os.WriteFile(filepath.Join(at, version+".info"), info, 0o666))
}

// cmdRunners writes the digests of the runners in $REMOTE_BOX_CACHE to a file, of which there have
// to be so many.
func cmdRunners(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: runners count file")
	}
	entries, err := os.ReadDir(filepath.Join(ts.Getenv("REMOTE_BOX_CACHE"), "runners"))
	ts.Check(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if fmt.Sprint(len(names)) != args[0] {
		ts.Fatalf("there are %d runners, not %s: %q", len(names), args[0], names)
	}
	slices.Sort(names)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(names, "\n")+"\n"), 0o600))
}

// cmdAppend appends a line to a file.
func cmdAppend(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: append file line")
	}
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o666)
	ts.Check(err)
	_, err = fmt.Fprintln(f, args[1])
	ts.Check(errors.Join(err, f.Close()))
}

// cmdEdit replaces a text, which has to be there, in a file.
func cmdEdit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit file old new")
	}
	path := ts.MkAbs(args[0])
	b, err := os.ReadFile(path)
	ts.Check(err)
	if !bytes.Contains(b, []byte(args[1])) {
		ts.Fatalf("%s: there is no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(path, bytes.ReplaceAll(b, []byte(args[1]), []byte(args[2])), 0o666))
}
