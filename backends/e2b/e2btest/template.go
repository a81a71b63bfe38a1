//go:build !remotebox_runner

package e2btest

import (
	"net/http"
	"os"
	"time"
)

// template is a name with builds. Its fields are guarded by Server.mu.
type template struct {
	id        string
	aliases   []string
	public    bool
	createdAt time.Time
	updatedAt time.Time
	builds    []*build // the oldest first
	tags      map[string]tagged
	spawned   int
	lastSpawn *time.Time
	snapshot  string // id of the sandbox, when the template is a snapshot
}

// tagged is the ready build that a tag stands for.
type tagged struct {
	build *build
	since time.Time
}

// image is what a ready build holds.
type image struct {
	layers   []string // directories, the topmost first
	env      map[string]string
	user     string
	workdir  string
	startCmd string
	readyCmd string
}

// addBaseTemplate makes the template "base", which is always there.
func (s *Server) addBaseTemplate() {
	t := &template{id: "basetemplateid000000", aliases: []string{"base"}, public: true, createdAt: time.Now(), updatedAt: time.Now()}
	b := &build{server: s, template: t, id: randomUUID(), status: statusReady, cpus: 2, memory: 512, createdAt: time.Now(), image: &image{user: "user"}}
	t.builds = []*build{b}
	t.tags = map[string]tagged{"default": {b, time.Now()}}
	s.templates[t.id] = t
}

func (t *template) alias() string {
	if len(t.aliases) == 0 {
		return ""
	}
	return t.aliases[0]
}

func (t *template) names() []string {
	names := []string{}
	for _, alias := range t.aliases {
		names = append(names, team+"/"+alias)
	}
	return names
}

// findTemplate finds a template by id or name, without a tag; nil if there is
// none.
func (s *Server) findTemplate(text string) *template {
	name, problem := parseTemplateName(text)
	if problem != "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return name.find(s)
}

// findBuild finds the ready build that a sandbox is to be made of.
func (s *Server) findBuild(text string) (*build, error) {
	name, problem := parseTemplateName(text)
	if problem != "" {
		return nil, fail(http.StatusBadRequest, "Invalid template reference: %s", problem)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := name.find(s)
	if t == nil {
		return nil, fail(http.StatusNotFound, "template '%s' not found", text)
	}
	tag, ok := t.tags[name.tag]
	if !ok {
		return nil, fail(http.StatusNotFound, "tag '%s' does not exist for template '%s'", name.tag, name.alias)
	}
	t.spawned++
	now := time.Now().UTC()
	t.lastSpawn = &now
	return tag.build, nil
}

// templatesDir keeps what builds made.
func (s *Server) templatesDir(id string) (string, error) {
	dir := s.path("builds", id)
	return dir, os.MkdirAll(dir, 0o755)
}
