package remote

import (
	"os"
	"os/user"
	"strconv"
)

// labels say whose a sandbox is, for people and for sweepers.
func labels(session string) map[string]string {
	l := map[string]string{"remote-box": "1", "pid": strconv.Itoa(os.Getpid())}
	if host, err := os.Hostname(); err == nil {
		l["host"] = host
	}
	if name := os.Getenv("USER"); name != "" {
		l["owner"] = name
	} else if u, err := user.Current(); err == nil {
		l["owner"] = u.Username
	}
	if session != "" {
		l["session"] = session
	}
	return l
}
