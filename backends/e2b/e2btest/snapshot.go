//go:build !remotebox_runner

package e2btest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// createSnapshot makes a template of a running sandbox's files.
func (s *Server) createSnapshot(r *http.Request) (answer, error) {
	var request struct {
		Name string `json:"name"`
	}
	sc := schema{name: "SandboxSnapshotRequest", optional: true, properties: []property{{name: "name", kind: "string"}}}
	if err := sc.decode(r, &request); err != nil {
		return answer{}, err
	}
	sb, err := s.lookup(r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	var name templateName
	if request.Name != "" {
		var problem string
		if name, problem = parseTemplateName(request.Name); problem != "" {
			return answer{}, fail(http.StatusBadRequest, "Invalid name: %s", problem)
		}
		if err := name.foreign(); err != nil {
			return answer{}, err
		}
	}
	b, err := sb.snapshot()
	if err != nil {
		return answer{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var t *template
	if name.alias != "" {
		t = name.find(s)
	}
	if t == nil {
		t = &template{id: randomID(), createdAt: time.Now(), tags: make(map[string]tagged)}
		if name.alias != "" {
			t.aliases = []string{name.alias}
		}
		s.templates[t.id] = t
	}
	t.snapshot, t.updatedAt, b.template = sb.id, time.Now(), t
	t.builds = append(t.builds, b)
	tag := "default"
	if name.tagged {
		tag = name.tag
	}
	t.tags[tag] = tagged{b, time.Now()}
	return answer{status: http.StatusCreated, body: map[string]any{"snapshotID": t.snapshotID(tag), "names": t.names()}}, nil
}

func (t *template) snapshotID(tag string) string {
	if len(t.aliases) > 0 {
		return team + "/" + t.aliases[0] + ":" + tag
	}
	return t.id + ":" + tag
}

// snapshot copies the sandbox's own files into a build of no template yet.
func (sb *sandbox) snapshot() (*build, error) {
	s := sb.server
	sb.mu.Lock()
	if sb.settled() != Running {
		sb.mu.Unlock()
		return nil, sandboxNotFound(sb.id)
	}
	// Nobody may pause or kill it while its files are copied.
	sb.become(pausing)
	m := sb.machine
	sb.mu.Unlock()
	defer func() {
		sb.mu.Lock()
		sb.become(Running)
		sb.setEnd(sb.endAt) // it may have passed meanwhile
		sb.mu.Unlock()
	}()

	b := &build{server: s, id: randomUUID(), status: statusReady, cpus: sb.cpus, memory: sb.memory, createdAt: time.Now()}
	dir, err := s.templatesDir(b.id)
	if err != nil {
		return nil, err
	}
	if err := m.jail.Freeze(); err != nil {
		return nil, err
	}
	err = m.jail.Snapshot(dir)
	if thawErr := m.jail.Thaw(); err == nil {
		err = thawErr
	}
	if err != nil {
		return nil, err
	}
	image := *sb.image
	image.env = maps.Clone(sb.image.env)
	image.layers = append([]string{dir}, sb.image.layers...)
	b.image = &image
	return b, nil
}

// snapshotInfo is the schema SnapshotInfo.
type snapshotInfo struct {
	SnapshotID string   `json:"snapshotID"`
	Names      []string `json:"names"`
}

func (s *Server) listSnapshots(r *http.Request) (answer, error) {
	query := r.URL.Query()
	limit, apiErr := queryInt(query, "limit", 100, 1, 100)
	if apiErr != nil {
		return answer{}, apiErr
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []snapshotInfo{}
	for _, t := range s.templates {
		if t.snapshot == "" || query.Get("sandboxID") != "" && t.snapshot != query.Get("sandboxID") {
			continue
		}
		if name := query.Get("name"); name != "" && !slices.Contains(t.aliases, strings.TrimPrefix(name, team+"/")) {
			continue
		}
		for tag := range t.tags {
			list = append(list, snapshotInfo{t.snapshotID(tag), t.names()})
		}
	}
	slices.SortFunc(list, func(a, b snapshotInfo) int { return strings.Compare(a.SnapshotID, b.SnapshotID) })
	header := http.Header{}
	if after := query.Get("nextToken"); after != "" {
		list = slices.DeleteFunc(list, func(i snapshotInfo) bool { return i.SnapshotID <= after })
	}
	if len(list) > limit {
		list = list[:limit]
		header.Set("X-Next-Token", list[limit-1].SnapshotID)
	}
	return answer{status: http.StatusOK, body: list, header: header}, nil
}

// forkSandbox makes sandboxes with the same files; processes can't be copied.
func (s *Server) forkSandbox(r *http.Request) (answer, error) {
	var request struct {
		Timeout *int `json:"timeout"`
		Count   *int `json:"count"`
	}
	sc := schema{name: "SandboxForkRequest", optional: true, properties: []property{
		{name: "timeout", kind: "integer"}, {name: "count", kind: "integer", min: 1, max: 100},
	}}
	if err := sc.decode(r, &request); err != nil {
		return answer{}, err
	}
	timeout, apiErr := s.checkTimeout(request.Timeout, 15)
	if apiErr != nil {
		return answer{}, apiErr
	}
	sb, err := s.lookup(r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	sb.mu.Lock()
	state := sb.settled()
	sb.mu.Unlock()
	if state == Paused {
		return answer{}, fail(http.StatusConflict, "Sandbox '%s' is paused and cannot be forked; resume it first", sb.id)
	}
	count := 1
	if request.Count != nil {
		count = *request.Count
	}
	b, err := sb.snapshot()
	if err != nil {
		return answer{}, err
	}
	b.template = &template{id: sb.templateID, aliases: []string{sb.alias}}
	results := []map[string]any{}
	for range count {
		fork := s.newSandbox(b, sb.spec)
		err := s.admit(fork)
		if err == nil {
			err = s.launch(fork, timeout)
		}
		if err != nil {
			results = append(results, map[string]any{"error": err})
			continue
		}
		fork.mu.Lock()
		results = append(results, map[string]any{"sandbox": fork.answer()})
		fork.mu.Unlock()
	}
	return answer{status: http.StatusCreated, body: results}, nil
}
