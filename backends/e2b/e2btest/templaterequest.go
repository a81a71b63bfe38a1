//go:build !remotebox_runner

package e2btest

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"
)

// templateRequest is the schema TemplateBuildRequestV3.
type templateRequest struct {
	Name     string   `json:"name"`
	Alias    string   `json:"alias"`
	Tags     []string `json:"tags"`
	CPUCount *int     `json:"cpuCount"`
	MemoryMB *int     `json:"memoryMB"`
}

// createTemplate adds a build to the template of that name, which it makes if
// there is none. The name is taken from then on, whatever becomes of the build.
func (s *Server) createTemplate(r *http.Request) (answer, error) {
	var request templateRequest
	sc := schema{name: "TemplateBuildRequestV3", properties: []property{
		{name: "name", kind: "string", max: 128},
		{name: "alias", kind: "string", max: 128},
		{name: "tags", kind: "array"},
		{name: "cpuCount", kind: "integer", min: 1},
		{name: "memoryMB", kind: "integer", min: 128},
	}}
	if err := sc.decode(r, &request); err != nil {
		return answer{}, err
	}
	text := cmp.Or(request.Name, request.Alias)
	if text == "" {
		return answer{}, fail(http.StatusBadRequest, "Name is required")
	}
	name, problem := parseTemplateName(text)
	if problem != "" {
		return answer{}, fail(http.StatusBadRequest, "Invalid name: %s", problem)
	}
	if err := name.foreign(); err != nil {
		return answer{}, err
	}
	tags, apiErr := request.allTags(name)
	if apiErr != nil {
		return answer{}, apiErr
	}
	cpus, memory, apiErr := request.resources()
	if apiErr != nil {
		return answer{}, apiErr
	}
	b := &build{server: s, id: randomUUID(), status: statusWaiting, cpus: cpus, memory: memory, tags: tags, createdAt: time.Now()}
	if err := s.register(name, b); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusAccepted, body: map[string]any{
		"templateID": b.template.id, "buildID": b.id, "public": false, "names": []string{team + "/" + name.alias}, "tags": tags, "aliases": []string{name.alias},
	}}, nil
}

// allTags are those of the request and that of the name, which alone is
// "default".
func (r templateRequest) allTags(name templateName) ([]string, *apiError) {
	tags := []string{}
	for _, tag := range r.Tags {
		tag = strings.ToLower(strings.TrimSpace(tag))
		if problem := tagProblem(tag); problem != "" {
			return nil, fail(http.StatusBadRequest, "Invalid tag: %s", problem)
		}
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	if (name.tagged || len(tags) == 0) && !slices.Contains(tags, name.tag) {
		tags = append(tags, name.tag)
	}
	return tags, nil
}

func (r templateRequest) resources() (cpus, memory int, err *apiError) {
	cpus, memory = 2, 1024
	if r.CPUCount != nil {
		cpus = *r.CPUCount
	}
	if r.MemoryMB != nil {
		memory = *r.MemoryMB
	}
	switch {
	case cpus > 32:
		return 0, 0, fail(http.StatusBadRequest, "CPU count must be at most 32")
	case cpus != 1 && cpus%2 != 0:
		return 0, 0, fail(http.StatusBadRequest, "CPU count must be 1 or an even number")
	case cpus > 8:
		return 0, 0, fail(http.StatusBadRequest, "CPU count exceeds team limits (8)")
	case memory%2 != 0:
		return 0, 0, fail(http.StatusBadRequest, "Memory must be divisible by 2")
	case memory > 8192:
		return 0, 0, fail(http.StatusBadRequest, "Memory exceeds team limits (8192)")
	}
	return cpus, memory, nil
}

// register gives the build to its template.
func (s *Server) register(name templateName, b *build) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	running := 0
	for _, t := range s.templates {
		for _, other := range t.builds {
			if other.status == statusBuilding {
				running++
			}
		}
	}
	if s.cfg.MaxBuilds >= 0 && running >= s.cfg.MaxBuilds {
		return fail(http.StatusTooManyRequests, "you have reached the maximum number of concurrent template builds (%d). Please wait for existing builds to complete or contact support if you need more", s.cfg.MaxBuilds)
	}
	t := name.find(s)
	if t == nil {
		t = &template{id: randomID(), aliases: []string{name.alias}, createdAt: time.Now(), tags: make(map[string]tagged)}
		s.templates[t.id] = t
	}
	for _, other := range t.builds {
		if other.status == statusWaiting && slices.ContainsFunc(other.tags, func(tag string) bool { return slices.Contains(b.tags, tag) }) {
			other.fail("", "build was superseded by a newer one")
		}
	}
	b.template = t
	t.updatedAt = time.Now()
	t.builds = append(t.builds, b)
	return nil
}
