//go:build !remotebox_runner

package envd

import (
	"maps"
	"slices"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/jail"
)

// defaultPath is envd's own PATH, which a login shell may replace.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environ is the environment of a process. Of two values for one name the later
// wins: the sandbox's over envd's, the request's over both.
func (s *Server) environ(user jail.User, request ...map[string]string) []string {
	env := []string{"PATH=" + defaultPath, "HOME=" + user.Home, "USER=" + user.Name, "LOGNAME=" + user.Name}
	for _, vars := range append([]map[string]string{s.cfg.Jail.Env(), s.cfg.Env}, request...) {
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			env = append(env, name+"="+vars[name])
		}
	}
	return env
}
