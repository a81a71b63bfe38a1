package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkUnchangedCheck compares `remote-box build --check` of three functions in a module where
// nothing has changed with a `go build` that has nothing to do. They take turns, so that what else
// the machine does hits both; the metrics are medians.
func BenchmarkUnchangedCheck(b *testing.B) {
	dir := b.TempDir()
	repo, err := filepath.Abs("../..")
	if err != nil {
		b.Fatal(err)
	}
	mod, sum, err := userModule(repo, "example.com/bench")
	if err != nil {
		b.Fatal(err)
	}
	files := map[string]string{"m/go.mod": mod, "m/go.sum": sum, "m/cmd/app/main.go": "package main\n\nimport (\n\t_ \"example.com/bench/f1\"\n\t_ \"example.com/bench/f2\"\n\t_ \"example.com/bench/f3\"\n)\n\nfunc main() {}\n"}
	for i := 1; i <= 3; i++ {
		files[fmt.Sprintf("m/f%d/f.go", i)] = fmt.Sprintf("package f%d\n\nimport (\n\t\"context\"\n\n\t\"github.com/remote-box/remote\"\n\t\"github.com/remote-box/remote/fakeimage\"\n)\n\n"+
			"func f(context.Context, int) (int, error) { return %d, nil }\n\nvar F = remote.New(f, remote.On(fakeimage.Backend{Prefix: \"bench\"}))\n", i, i)
	}
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.Setenv("REMOTE_BOX_CACHE", filepath.Join(dir, "cache"))
	b.Setenv("FAKE_IMAGES", b.TempDir())
	command := filepath.Join(dir, "remote-box")
	run := func(wd string, args ...string) time.Duration {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = wd
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return time.Since(start)
	}
	module := filepath.Join(dir, "m")
	run(".", "go", "build", "-o", command, ".")
	build := []string{"go", "build", "-o", filepath.Join(dir, "app"), "./cmd/app"}
	run(module, build...)
	run(module, command, "build")
	var builds, checks []time.Duration
	for b.Loop() {
		builds = append(builds, run(module, build...))
		checks = append(checks, run(module, command, "build", "--check"))
	}
	slices.Sort(builds)
	slices.Sort(checks)
	goBuild, check := builds[len(builds)/2], checks[len(checks)/2]
	b.ReportMetric(float64(goBuild.Milliseconds()), "go-build-ms")
	b.ReportMetric(float64(check.Milliseconds()), "check-ms")
	b.ReportMetric(float64(check)/float64(goBuild), "check/go-build")
}
