//go:build !remotebox_runner

package envd

import (
	"fmt"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"

	"connectrpc.com/connect"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/jail"
)

// rpcUser is the OS user that a call's Authorization header names: "Basic" with
// a name and no password (envd spec).
func (s *Server) rpcUser(header http.Header) (jail.User, error) {
	name, _, _ := (&http.Request{Header: header}).BasicAuth()
	user, err := s.user(name)
	if err != nil {
		return user, connect.NewError(connect.CodeUnauthenticated, err)
	}
	return user, nil
}

// user finds an account of the sandbox; the empty name is the default user's.
func (s *Server) user(name string) (jail.User, error) {
	if name == "" {
		name = s.cfg.User
	}
	if !s.cfg.Jail.Confined() {
		if name != "user" && name != "root" {
			return jail.User{}, fmt.Errorf("invalid username: '%s'", name)
		}
		return jail.User{Name: name, UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Home: s.cfg.Jail.Path("/home/user")}, nil
	}
	for _, user := range s.accounts() {
		if user.Name == name {
			return user, nil
		}
	}
	return jail.User{}, fmt.Errorf("invalid username: '%s'", name)
}

func (s *Server) accounts() []jail.User {
	var users []jail.User
	for _, fields := range s.colonFile("/etc/passwd", 6) {
		uid, err1 := strconv.ParseUint(fields[2], 10, 32)
		gid, err2 := strconv.ParseUint(fields[3], 10, 32)
		if err1 == nil && err2 == nil {
			users = append(users, jail.User{Name: fields[0], UID: uint32(uid), GID: uint32(gid), Home: fields[5]})
		}
	}
	return users
}

// names returns the names of a file's owner and group, as numbers where there
// are none.
func (s *Server) names(uid, gid uint32) (owner, group string) {
	owner, group = strconv.FormatUint(uint64(uid), 10), strconv.FormatUint(uint64(gid), 10)
	for _, fields := range s.colonFile("/etc/passwd", 3) {
		if fields[2] == owner {
			owner = fields[0]
			break
		}
	}
	for _, fields := range s.colonFile("/etc/group", 3) {
		if fields[2] == group {
			group = fields[0]
			break
		}
	}
	return owner, group
}

// colonFile reads a file like /etc/passwd; lines with fewer fields are skipped.
func (s *Server) colonFile(name string, fields int) [][]string {
	var text []byte
	s.cfg.Jail.Do(func() { text, _ = os.ReadFile(name) })
	var lines [][]string
	for line := range strings.Lines(string(text)) {
		if parts := strings.Split(strings.TrimSpace(line), ":"); len(parts) >= fields {
			lines = append(lines, parts)
		}
	}
	return lines
}

// resolve makes a path of a request absolute: "~" and relative paths belong to
// the user's home, the empty path is the default working directory.
func (s *Server) resolve(name string, user jail.User) string {
	switch {
	case name == "" && s.cfg.Workdir != "":
		name = s.cfg.Workdir
	case name == "~" || strings.HasPrefix(name, "~/"):
		name = path.Join(user.Home, name[1:])
	case !path.IsAbs(name):
		name = path.Join(user.Home, name)
	}
	return s.cfg.Jail.Path(path.Clean(name))
}
