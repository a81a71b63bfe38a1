package imagehash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// BenchmarkDigest puts a walk beside the fastest thing that a shell can do about the same files, in the same run. The size
// of the tree comes from the environment; the defaults are for a quick look.
//
//	IMAGEHASH_FILES=20000 IMAGEHASH_MIB=1024 IMAGEHASH_EXCLUDED=200000 go test -run '^$' -bench Digest -benchtime 5x ./imagehash/
func BenchmarkDigest(b *testing.B) {
	files, mib := sizeFromEnv(b, "IMAGEHASH_FILES", 500), sizeFromEnv(b, "IMAGEHASH_MIB", 16)
	root := b.TempDir()
	layMany(b, root, files, mib<<20/files)
	write(b, root, ignoreName, "**/*.log\nbuild\n**/tmp\n!**/keep.log\n")
	bytes := int64(files) * int64(mib<<20/files)

	b.Run("tree", func(b *testing.B) { besides(b, root, bytes, files) })

	layMany(b, filepath.Join(root, "web", "node_modules"), sizeFromEnv(b, "IMAGEHASH_EXCLUDED", 2000), 0)
	b.Run("node_modules", func(b *testing.B) { besides(b, root, bytes, files) })
}

func besides(b *testing.B, root string, bytes int64, files int) {
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			tree, err := Walk(b.Context(), root, Options{})
			check(b, err)
			if tree.Len() < files {
				b.Fatalf("%d entries, want at least %d", tree.Len(), files)
			}
		}
	})
	b.Run("sha256sum", func(b *testing.B) {
		for _, tool := range []string{"find", "xargs", "sha256sum"} {
			if _, err := exec.LookPath(tool); err != nil {
				b.Skip(err)
			}
		}
		command := fmt.Sprintf("find . -name node_modules -prune -o -type f -print0 | xargs -0 -P %d -n 64 sha256sum >/dev/null", runtime.GOMAXPROCS(0))
		b.SetBytes(bytes)
		for b.Loop() {
			cmd := exec.CommandContext(b.Context(), "sh", "-c", command)
			cmd.Dir = root
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
		}
	})
}

// layMany makes files of one size, a hundred a directory.
func layMany(b *testing.B, root string, files, size int) {
	b.Helper()
	content := make([]byte, size)
	for i := range files {
		dir := filepath.Join(root, strconv.Itoa(i/5000), strconv.Itoa(i/100))
		if i%100 == 0 {
			check(b, os.MkdirAll(dir, 0o755))
		}
		check(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%d.go", i)), content, 0o644))
	}
}

func sizeFromEnv(b *testing.B, name string, otherwise int) int {
	b.Helper()
	value := os.Getenv(name)
	if value == "" {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	if err != nil || n <= 0 {
		b.Fatalf("%s=%q is not a number above 0", name, value)
	}
	return n
}
