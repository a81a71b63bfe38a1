package docker

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStatic looks at programs that are nothing but their headers.
func TestStatic(t *testing.T) {
	for kind, want := range map[elf.ProgType]string{elf.PT_LOAD: "", elf.PT_INTERP: "docker.Backend.Build.CGO: "} {
		file := filepath.Join(t.TempDir(), "runner")
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1}
		copy(h.Ident[:], "\x7fELF\x02\x01\x01")
		for _, part := range []any{h, elf.Prog64{Type: uint32(kind)}} {
			if err := binary.Write(f, binary.LittleEndian, part); err != nil {
				t.Fatal(err)
			}
		}
		f.Close()
		err = static(file)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "CGO_ENABLED")) {
			t.Errorf("%v: %v", kind, err)
		}
	}
}

func TestForeignArchitecture(t *testing.T) {
	if got := differ("arm64", "amd64"); !strings.Contains(got, "docker.Backend.Platform: the image is for arm64, which an engine on amd64") || !strings.Contains(got, "--install arm64)") {
		t.Error(got)
	}
	for _, same := range [][2]string{{"amd64", "amd64"}, {"", "amd64"}, {"arm64", ""}} {
		if got := differ(same[0], same[1]); got != "" {
			t.Errorf("%q: %s", same, got)
		}
	}
}
