package driver_test

import (
	"strings"
	"testing"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/hostmode"
	"github.com/remote-box/remote/internal/proc"
)

func TestCheckEnv(t *testing.T) {
	fine := map[string]string{"A": "", "B": "some value\nin two lines=", "REMOTE_BOX_CACHE": "/cache", "REMOTE_BOX_LOCK": "l"}
	if err := driver.CheckEnv("x.Backend.Env", fine); err != nil {
		t.Error(err)
	}
	for name, value := range map[string]string{"": "", "A=B": "", "A\x00": "", "KEY": "s3cret\x00"} {
		err := driver.CheckEnv("x.Backend.Env", map[string]string{name: value})
		if err == nil || !strings.HasPrefix(err.Error(), "x.Backend.Env: ") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{
		callproc.EnvCall, callproc.EnvInput, callproc.EnvMode, callproc.EnvNonce, callproc.EnvQuery, callproc.EnvReport, callproc.EnvRequest,
		callproc.EnvShared, callproc.EnvState, hostmode.Variable, proc.CallTag, proc.Tag,
	} {
		if err := driver.CheckEnv("x.Backend.Env", map[string]string{name: "1"}); err == nil || !strings.Contains(err.Error(), "x.Backend.Env: "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
