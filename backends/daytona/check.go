//go:build !remotebox_runner

package daytona

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/remote-box/remote/driver"
)

// Daytona's rule for snapshot names, but for the digest that may follow.
var snapshotNames = regexp.MustCompile(`^[A-Za-z0-9_.:-]+(/[A-Za-z0-9_.:-]+)*$`)

// A snapshot that is there already may have the digest.
var pinnedNames = regexp.MustCompile(`^[A-Za-z0-9_.:-]+(/[A-Za-z0-9_.:-]+)*(@sha256:[0-9a-f]{64})?$`)

// leastDisk is the smallest disk of a class in GB. The least of the rest is 1 in all of them.
func leastDisk(c Class) (gb int, ok bool) {
	switch c {
	case Container:
		return 1, true
	case LinuxVM:
		return 3, true
	}
	return 0, false
}

func (b Backend) class() Class { return cmp.Or(b.Class, Container) }
func (b Backend) cpus() int    { return cmp.Or(b.CPUs, 1) }
func (b Backend) memory() int  { return cmp.Or(b.MemoryGB, 1) }
func (b Backend) disk() int    { return cmp.Or(b.DiskGB, 3) }
func (b Backend) prefix() string {
	return cmp.Or(b.SnapshotName, DefaultSnapshotName)
}

func (b Backend) createTimeout() time.Duration { return cmp.Or(b.CreateTimeout, 120*time.Second) }
func (b Backend) autoStop() time.Duration      { return cmp.Or(b.AutoStop, 15*time.Minute) }
func (b Backend) keepPaused() time.Duration    { return cmp.Or(b.KeepPaused, 7*24*time.Hour) }

// region is where sandboxes and snapshots are made; Daytona decides when it is empty.
func (b Backend) region() string { return cmp.Or(b.Target, os.Getenv("DAYTONA_TARGET")) }

// check finds what can't work before anything is sent.
func (b Backend) check() error {
	for _, err := range []error{b.checkSize(), b.checkImage(), b.checkLife(), b.checkNetwork(), b.checkEnv()} {
		if err != nil {
			return fmt.Errorf("daytona: %w", err)
		}
	}
	if b.APIKey != "" && b.JWTToken != "" {
		return errors.New("daytona: APIKey and JWTToken: only one of them can be used")
	}
	return nil
}

// field is what is wrong with a field.
func field(name, format string, args ...any) error {
	return fmt.Errorf("%s: %w", name, fmt.Errorf(format, args...))
}

func (b Backend) checkSize() error {
	disk, ok := leastDisk(b.class())
	if !ok {
		return field("Class", "%q is neither %q nor %q", b.Class, Container, LinuxVM)
	}
	for _, size := range []struct {
		field     string
		is, least int
	}{{"CPUs", b.cpus(), 1}, {"MemoryGB", b.memory(), 1}, {"DiskGB", b.disk(), disk}} {
		if size.is < size.least {
			return field(size.field, "sandboxes of class %q need at least %d, not %d", b.class(), size.least, size.is)
		}
	}
	return nil
}

func (b Backend) checkImage() error {
	if !snapshotNames.MatchString(b.prefix()) {
		return field("SnapshotName", "%q holds something else than letters, digits and _.-:/", b.prefix())
	}
	if b.Snapshot != "" {
		if !pinnedNames.MatchString(b.Snapshot) {
			return field("Snapshot", "%q is no name of a snapshot: it holds something else than letters, digits and _.-:/", b.Snapshot)
		}
		for _, contradicts := range []struct {
			field string
			set   bool
		}{{"CPUs", b.CPUs != 0}, {"MemoryGB", b.MemoryGB != 0}, {"DiskGB", b.DiskGB != 0}, {"Dockerfile", b.Dockerfile != ""}, {"BaseImage", b.BaseImage != ""}} {
			if contradicts.set {
				return field("Snapshot, "+contradicts.field, "the snapshot, which is used as it is, has decided that")
			}
		}
	}
	switch {
	case b.Dockerfile != "" && b.BaseImage != "":
		return field("Dockerfile, BaseImage", "the Dockerfile's FROM line names the base")
	case b.Dockerfile != "" && b.class() == LinuxVM:
		return field("Dockerfile", "Daytona makes snapshots of class linux-vm from images only; push what the Dockerfile makes to a registry, and name it in BaseImage")
	}
	if b.BaseImage == "" {
		return nil
	}
	name := b.BaseImage[strings.LastIndex(b.BaseImage, "/")+1:]
	_, tag, tagged := strings.Cut(name, ":")
	if !tagged && !strings.Contains(name, "@") || tag == "latest" || strings.ContainsAny(b.BaseImage, " \t\r\n") {
		return field("BaseImage", "%q needs a tag other than latest, or a digest", b.BaseImage)
	}
	return nil
}

func (b Backend) checkLife() error {
	switch {
	case b.AutoStop > 0 && b.AutoStop < time.Minute:
		return field("AutoStop", "Daytona counts in minutes; less than one can't be had")
	case b.TTL < 0 || b.TTL > 0 && b.TTL < time.Minute:
		return field("TTL", "Daytona counts in minutes; less than one can't be had")
	case b.KeepPaused > 0 && b.KeepPaused < time.Minute:
		return field("KeepPaused", "Daytona counts in minutes; less than one can't be had")
	case b.KeepPaused != 0 && b.Ephemeral:
		return field("KeepPaused, Ephemeral", "an ephemeral sandbox can't be paused")
	case b.CreateTimeout < 0:
		return field("CreateTimeout", "it is negative")
	case b.AutoStop < 0 && b.TTL == 0:
		return field("AutoStop", "a sandbox that never stops needs a TTL, so that it does not outlive a program that died")
	case b.ArchivePaused && b.class() == LinuxVM:
		return field("ArchivePaused", "sandboxes of class linux-vm can't be archived when they are paused")
	case b.ArchivePaused && b.Ephemeral:
		return field("ArchivePaused, Ephemeral", "an ephemeral sandbox can't be paused")
	}
	return nil
}

func (b Backend) checkNetwork() error {
	if b.NetworkBlockAll && len(b.NetworkAllow)+len(b.DomainAllow) > 0 {
		return field("NetworkBlockAll", "it contradicts NetworkAllow and DomainAllow")
	}
	for _, r := range b.NetworkAllow {
		if _, err := netip.ParsePrefix(r); err != nil {
			return field("NetworkAllow", "%q is no address range as 10.0.0.0/8 is", r)
		}
	}
	for _, d := range b.DomainAllow {
		if d == "" || strings.ContainsAny(d, ", /:") {
			return field("DomainAllow", "%q is no domain", d)
		}
	}
	for _, v := range b.Volumes {
		if v.ID == "" || !strings.HasPrefix(v.Target, "/") {
			return field("Volumes", "%+v needs an ID and an absolute Target", v)
		}
	}
	return nil
}

func (b Backend) checkEnv() error {
	for name := range b.Env {
		if strings.HasPrefix(name, "-") {
			return field("Env", "the variable %q can't be one", name)
		}
	}
	return driver.CheckEnv("Env", b.Env)
}
