//go:build !remotebox_runner

package docker

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/moby/buildkit/client/llb"
	"github.com/tonistiigi/fsutil/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// The base is what an image holds besides the runner when there is no Dockerfile: what programs
// count on everywhere, and nothing else. It comes from Go modules and from this package, never
// from the host's files, so that it is the same on every host; its digest is part of the identity.

// zoneinfo is the time zone database as the Go distribution has it, in lib/time/zoneinfo.zip.
//
//go:generate sh -c "cp $(go env GOROOT)/lib/time/zoneinfo.zip zoneinfo.zip"
//go:embed zoneinfo.zip
var zoneinfo []byte

// The user of the base.
const (
	userName = "remote-box"
	userID   = 1000
	homeDir  = "/home/remote-box"
	workDir  = "/work"
)

// base puts the base together. baseDigest is the digest of what it returns.
func base() (*files, error) {
	f := newFiles()
	passwd := fmt.Sprintf("root:x:0:0:root:/root:/sbin/nologin\n%s:x:%d:%[2]d::%s:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n", userName, userID, homeDir)
	group := fmt.Sprintf("root:x:0:\n%s:x:%d:\nnobody:x:65534:\n", userName, userID)
	f.file("etc/passwd", 0o644, []byte(passwd))
	f.file("etc/group", 0o644, []byte(group))
	f.file("etc/nsswitch.conf", 0o644, []byte("hosts: files dns\n"))
	f.file("etc/ssl/certs/ca-certificates.crt", 0o644, roots())
	f.add("tmp", tmpMode, 0)
	f.add("root", fs.ModeDir|0o700, 0)
	return f, addZones(f)
}

// ground is a file system with what belongs to the base's user: what is sent to a builder always
// arrives as root's.
func ground() llb.State {
	theirs := llb.WithUIDGID(userID, userID)
	return llb.Scratch().File(llb.Mkdir("/home", 0o755).Mkdir(homeDir, 0o755, theirs).Mkdir(workDir, 0o755, theirs),
		llb.WithCustomName("[remote-box] directories"))
}

// roots are the CA certificates that Mozilla trusts without reservation. Those that it trusts for
// older certificates only are left out: a file of certificates has no way to say so.
func roots() []byte {
	var b bytes.Buffer
	for r := range bundle.Roots() {
		if r.Constraint == nil {
			pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate})
		}
	}
	return b.Bytes()
}

func addZones(f *files) error {
	z, err := zip.NewReader(bytes.NewReader(zoneinfo), int64(len(zoneinfo)))
	if err != nil {
		return err
	}
	for _, zone := range z.File {
		if strings.HasSuffix(zone.Name, "/") {
			continue
		}
		r, err := zone.Open()
		if err != nil {
			return err
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		f.file(path.Join("usr/share/zoneinfo", zone.Name), 0o644, b)
	}
	return nil
}

// baseDigest identifies the base.
func baseDigest() (string, error) {
	f, err := base()
	if err != nil {
		return "", err
	}
	slices.SortFunc(f.entries, func(a, b *types.Stat) int { return strings.Compare(a.Path, b.Path) })
	h := sha256.New()
	for _, s := range f.entries {
		fmt.Fprintf(h, "%q %o %x\n", s.Path, s.Mode, sha256.Sum256(f.content[s.Path]))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
