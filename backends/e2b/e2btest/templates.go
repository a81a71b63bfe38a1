//go:build !remotebox_runner

package e2btest

import (
	"net/http"
	"slices"
	"time"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/envd"
)

// templateAnswer is the schema Template, and TemplateWithBuilds.
type templateAnswer struct {
	TemplateID    string        `json:"templateID"`
	BuildID       string        `json:"buildID,omitempty"`
	CPUCount      int           `json:"cpuCount,omitempty"`
	MemoryMB      int           `json:"memoryMB,omitempty"`
	DiskSizeMB    int           `json:"diskSizeMB,omitempty"`
	Public        bool          `json:"public"`
	Aliases       []string      `json:"aliases"`
	Names         []string      `json:"names"`
	CreatedAt     time.Time     `json:"createdAt"`
	UpdatedAt     time.Time     `json:"updatedAt"`
	CreatedBy     *string       `json:"createdBy"`
	LastSpawnedAt *time.Time    `json:"lastSpawnedAt"`
	SpawnCount    int           `json:"spawnCount"`
	BuildCount    int           `json:"buildCount"`
	EnvdVersion   string        `json:"envdVersion"`
	BuildStatus   buildStatus   `json:"buildStatus,omitempty"`
	Builds        []buildAnswer `json:"builds,omitempty"`
}

type buildAnswer struct {
	BuildID     string      `json:"buildID"`
	Status      buildStatus `json:"status"`
	CreatedAt   time.Time   `json:"createdAt"`
	UpdatedAt   time.Time   `json:"updatedAt"`
	FinishedAt  *time.Time  `json:"finishedAt,omitempty"`
	CPUCount    int         `json:"cpuCount"`
	MemoryMB    int         `json:"memoryMB"`
	DiskSizeMB  int         `json:"diskSizeMB"`
	EnvdVersion string      `json:"envdVersion"`
}

// answer describes the template; the caller holds s.mu.
func (t *template) answer() templateAnswer {
	a := templateAnswer{
		TemplateID: t.id, Public: t.public, Aliases: append([]string{}, t.aliases...), Names: t.names(), CreatedAt: t.createdAt, UpdatedAt: t.updatedAt,
		LastSpawnedAt: t.lastSpawn, SpawnCount: t.spawned, BuildCount: len(t.builds), EnvdVersion: envd.Version,
	}
	if last := len(t.builds) - 1; last >= 0 {
		b := t.builds[last]
		a.BuildID, a.CPUCount, a.MemoryMB, a.DiskSizeMB, a.BuildStatus = b.id, b.cpus, b.memory, diskSizeMB, b.status
	}
	return a
}

func (s *Server) listTemplates(r *http.Request) (answer, error) {
	query := r.URL.Query()
	limit, apiErr := queryInt(query, "limit", 100, 1, 100)
	if apiErr != nil {
		return answer{}, apiErr
	}
	var from cursor
	if token := query.Get("nextToken"); token != "" {
		var ok bool
		if from, ok = decodeCursor(token); !ok {
			return answer{}, fail(http.StatusBadRequest, "Invalid next token")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []templateAnswer{}
	for _, t := range s.templates {
		if t.snapshot == "" && (cursor{t.createdAt, t.id}).compare(from) > 0 {
			list = append(list, t.answer())
		}
	}
	position := func(a templateAnswer) cursor { return cursor{a.CreatedAt, a.TemplateID} }
	slices.SortFunc(list, func(a, b templateAnswer) int { return position(a).compare(position(b)) })
	header := http.Header{}
	if len(list) > limit {
		list = list[:limit]
		header.Set("X-Next-Token", position(list[limit-1]).encode())
	}
	return answer{status: http.StatusOK, body: list, header: header}, nil
}

func (s *Server) getTemplate(r *http.Request) (answer, error) {
	return s.withTemplate(r.PathValue("id"), func(t *template) (answer, error) {
		a := t.answer()
		for _, b := range t.builds {
			a.Builds = append(a.Builds, buildAnswer{
				BuildID: b.id, Status: b.status, CreatedAt: b.createdAt, UpdatedAt: b.createdAt, FinishedAt: b.finishedAt,
				CPUCount: b.cpus, MemoryMB: b.memory, DiskSizeMB: diskSizeMB, EnvdVersion: envd.Version,
			})
		}
		return answer{status: http.StatusOK, body: a}, nil
	})
}

func (s *Server) updateTemplate(r *http.Request) (answer, error) {
	var request struct {
		Public *bool `json:"public"`
	}
	sc := schema{name: "TemplateUpdateRequest", properties: []property{{name: "public", kind: "boolean"}}}
	if err := sc.decode(r, &request); err != nil {
		return answer{}, err
	}
	return s.withTemplate(r.PathValue("id"), func(t *template) (answer, error) {
		if request.Public != nil {
			t.public = *request.Public
		}
		return answer{status: http.StatusOK, body: map[string]any{"names": t.names()}}, nil
	})
}

// deleteTemplate removes a template or a snapshot. Sandboxes made of it live on,
// so their files stay until the server is closed.
func (s *Server) deleteTemplate(r *http.Request) (answer, error) {
	return s.withTemplate(r.PathValue("id"), func(t *template) (answer, error) {
		for _, b := range t.builds {
			b.stop()
		}
		delete(s.templates, t.id)
		return answer{status: http.StatusNoContent}, nil
	})
}

// withTemplate finds a template and calls f with s.mu held.
func (s *Server) withTemplate(text string, f func(*template) (answer, error)) (answer, error) {
	name, problem := parseTemplateName(text)
	if problem != "" {
		return answer{}, fail(http.StatusBadRequest, "Invalid template ID: %s", problem)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := name.find(s)
	if t == nil {
		return answer{}, fail(http.StatusNotFound, "Template '%s' not found", text)
	}
	return f(t)
}
