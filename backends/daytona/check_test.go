package daytona_test

import (
	"strings"
	"testing"
	"time"

	"github.com/remote-box/remote/backends/daytona"
	"github.com/remote-box/remote/backends/daytona/daytonatest"
	"github.com/remote-box/remote/driver"
)

// TestContradictions checks that what can't work is an error before anything is sent.
func TestContradictions(t *testing.T) {
	srv := daytonatest.New(t, daytonatest.Config{})
	for want, b := range map[string]daytona.Backend{
		"Class: \"windows\"": {Class: "windows"},
		"DiskGB: sandboxes of class \"linux-vm\" need at least 3, not 2": {Class: daytona.LinuxVM, DiskGB: 2},
		"CPUs: ":                               {CPUs: -1},
		"MemoryGB: ":                           {MemoryGB: -1},
		"Snapshot: \"a b\"":                    {Snapshot: "a b"},
		"Snapshot, CPUs":                       {Snapshot: "s", CPUs: 2},
		"Snapshot, Dockerfile":                 {Snapshot: "s", Dockerfile: "Dockerfile"},
		"Snapshot, BaseImage":                  {Snapshot: "s", BaseImage: "a:1"},
		"Dockerfile, BaseImage":                {Dockerfile: "Dockerfile", BaseImage: "a:1"},
		"Dockerfile: Daytona makes snapshots":  {Dockerfile: "Dockerfile", Class: daytona.LinuxVM},
		"BaseImage: \"debian\"":                {BaseImage: "debian"},
		"BaseImage: \"r:5000/debian:latest\"":  {BaseImage: "r:5000/debian:latest"},
		"SnapshotName: ":                       {SnapshotName: "a b"},
		"AutoStop: Daytona counts":             {AutoStop: time.Second},
		"AutoStop: a sandbox that never stops": {AutoStop: -1},
		"TTL: ":                                {TTL: time.Second},
		"CreateTimeout: ":                      {CreateTimeout: -1},
		"ArchivePaused: ":                      {ArchivePaused: true, Class: daytona.LinuxVM},
		"KeepPaused: Daytona counts":           {KeepPaused: time.Second},
		"KeepPaused, Ephemeral":                {KeepPaused: -1, Ephemeral: true},
		"ArchivePaused, Ephemeral":             {ArchivePaused: true, Ephemeral: true},
		"NetworkBlockAll: ":                    {NetworkBlockAll: true, DomainAllow: []string{"example.com"}},
		"NetworkAllow: ":                       {NetworkAllow: []string{"10.0.0.0"}},
		"DomainAllow: ":                        {DomainAllow: []string{"a,b"}},
		"Volumes: ":                            {Volumes: []daytona.Volume{{ID: "v", Target: "data"}}},
		"Env: ":                                {Env: map[string]string{"A=B": "c"}},
		"Env: the variable \"-u\"":             {Env: map[string]string{"-u": "HOME"}},
		"APIKey and JWTToken":                  {JWTToken: "j"},
	} {
		b.APIKey, b.APIURL = daytona.Secret(srv.Key), srv.APIURL()
		_, started := b.Start(t.Context(), driver.Spec{})
		_, attached := b.Attach(t.Context(), "x", driver.Spec{})
		for _, err := range []error{started, attached} {
			if err == nil || !strings.HasPrefix(err.Error(), "daytona: "+want) {
				t.Errorf("%q is not how this begins: %v", want, err)
			}
		}
	}
	if n := len(srv.Requests()); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestPauseSemantics(t *testing.T) {
	for _, c := range []struct {
		b    daytona.Backend
		want driver.PauseSemantics
	}{
		{daytona.Backend{}, driver.PauseStop},
		{daytona.Backend{Class: daytona.Container}, driver.PauseStop},
		{daytona.Backend{Class: daytona.LinuxVM}, driver.PauseSuspend},
		{daytona.Backend{Ephemeral: true}, driver.PauseNone},
	} {
		if got := c.b.PauseSemantics(); got != c.want {
			t.Errorf("%+v: %v, want %v", c.b, got, c.want)
		}
	}
}

func TestDiagnose(t *testing.T) {
	srv := daytonatest.New(t, daytonatest.Config{V190: true})
	for name, c := range map[string]struct {
		b             daytona.Backend
		what, problem string
	}{
		"good":      {on(srv), "version 0.190.0", ""},
		"wrong key": {daytona.Backend{APIKey: "wrong", APIURL: srv.APIURL()}, srv.APIURL(), "refused"},
		"settings":  {daytona.Backend{Class: "windows"}, "settings", "Class"},
		"no server": {daytona.Backend{APIKey: "k", APIURL: "http://127.0.0.1:1"}, "127.0.0.1:1", "refused"},
	} {
		found := c.b.Diagnose(t.Context())
		if len(found) != 1 || !strings.Contains(found[0].What, c.what) || !strings.Contains(found[0].Problem, c.problem) || (found[0].Problem == "") != (c.problem == "") || (found[0].Mend == "") != (c.problem == "") {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// TestRegions checks that snapshots of several regions do not share a name.
func TestRegions(t *testing.T) {
	t.Setenv("DAYTONA_TARGET", "")
	p := program(t)
	names := map[string]string{}
	for _, class := range []daytona.Class{daytona.Container, daytona.LinuxVM} {
		for _, target := range []string{"", "us", "eu"} {
			b := daytona.Backend{Target: target, Class: class}
			for _, name := range []string{image(t, b, p).Name(), daytona.BaseName(b)} {
				if other, taken := names[name]; taken {
					t.Errorf("%q and %q: %s", target, other, name)
				}
				names[name] = target
			}
		}
	}
	byField := image(t, daytona.Backend{Target: "eu"}, p).Name()
	t.Setenv("DAYTONA_TARGET", "eu")
	if byVariable := image(t, daytona.Backend{}, p).Name(); byVariable != byField {
		t.Errorf("by the field %s, by the variable %s", byField, byVariable)
	}
}
