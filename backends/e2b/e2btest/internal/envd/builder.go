//go:build !remotebox_runner

package envd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/jail"
)

// HasUser says whether the sandbox has an account of this name.
func (s *Server) HasUser(name string) bool {
	_, err := s.user(name)
	return err == nil
}

// AddUser makes an account with a home, unless there is one; sudo lets it become
// root without a password.
func (s *Server) AddUser(name string, sudo bool) error {
	if !s.cfg.Jail.Confined() {
		_, err := s.user(name)
		return err
	}
	if !s.HasUser(name) {
		id := uint32(1000)
		for _, account := range s.accounts() {
			if account.UID >= id && account.UID < 60000 {
				id = account.UID + 1
			}
		}
		user := jail.User{Name: name, UID: id, GID: id, Home: "/home/" + name}
		lines := map[string]string{
			"/etc/passwd": fmt.Sprintf("%s:x:%d:%d::%s:/bin/bash\n", name, id, id, user.Home),
			"/etc/group":  fmt.Sprintf("%s:x:%d:\n", name, id),
			"/etc/shadow": fmt.Sprintf("%s:*:19000:0:99999:7:::\n", name),
		}
		var err error
		doErr := s.cfg.Jail.Do(func() {
			for file, line := range lines {
				err = errors.Join(err, appendLine(file, line))
			}
			err = errors.Join(err, makeDirs(user.Home, user))
		})
		if err := errors.Join(doErr, err); err != nil {
			return err
		}
	}
	if !sudo {
		return nil
	}
	var err error
	doErr := s.cfg.Jail.Do(func() {
		err = os.WriteFile("/etc/sudoers.d/"+name, []byte(name+" ALL=(ALL:ALL) NOPASSWD: ALL\n"), 0o440)
	})
	return errors.Join(doErr, err)
}

func appendLine(name, line string) error {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(line)
	return errors.Join(err, file.Close())
}

// Resolve makes a path absolute as for a request of the user.
func (s *Server) Resolve(name, user string) (string, error) {
	account, err := s.user(user)
	if err != nil {
		return "", err
	}
	return s.resolve(name, account), nil
}

// MakeDir makes a directory and gives it, and new parents, to user.
func (s *Server) MakeDir(name, user string) error {
	account, err := s.user(user)
	if err != nil {
		return err
	}
	if doErr := s.cfg.Jail.Do(func() { err = makeDirs(s.resolve(name, account), account) }); doErr != nil {
		return doErr
	}
	return err
}

// WriteFile writes a file of root's, and its parents.
func (s *Server) WriteFile(name string, body io.Reader) error {
	account, err := s.user("root")
	if err != nil {
		return err
	}
	_, err = s.store(path.Clean(name), account, nil, body)
	return err
}
