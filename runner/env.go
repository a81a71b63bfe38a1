package runner

import (
	"os"
	"os/user"
)

// mendEnvironment makes good what a sandbox's image may lack and programs count on: PATH, HOME
// and the directory for temporary files.
func mendEnvironment() {
	if os.Getenv("PATH") == "" {
		os.Setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	}
	if os.Getenv("HOME") == "" {
		home := os.TempDir()
		if u, err := user.Current(); err == nil && u.HomeDir != "" {
			if st, err := os.Stat(u.HomeDir); err == nil && st.IsDir() {
				home = u.HomeDir
			}
		}
		os.Setenv("HOME", home)
	}
	if tmp := os.TempDir(); !exists(tmp) {
		os.MkdirAll(tmp, 0o777)
		os.Chmod(tmp, 0o777|os.ModeSticky)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
