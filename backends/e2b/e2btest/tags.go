//go:build !remotebox_runner

package e2btest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// aliasOrTags serves two routes that http.ServeMux can't tell apart.
func (s *Server) aliasOrTags(r *http.Request) (answer, error) {
	id, part := r.PathValue("id"), r.PathValue("part")
	switch {
	case id == "aliases":
		return s.checkAlias(part)
	case part == "tags":
		return s.listTags(id)
	}
	return answer{}, fail(http.StatusNotFound, "validation error: no matching operation was found")
}

// checkAlias says whether there is a template of that name. A name with a tag
// needs a ready build of it; one without needs none.
func (s *Server) checkAlias(text string) (answer, error) {
	name, problem := parseTemplateName(text)
	if problem != "" {
		return answer{}, fail(http.StatusBadRequest, "Invalid alias: %s", problem)
	}
	if err := name.foreign(); err != nil {
		return answer{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := name.find(s)
	if t == nil {
		return answer{}, fail(http.StatusNotFound, "Template alias '%s' not found", text)
	}
	if _, ok := t.tags[name.tag]; name.tagged && !ok {
		return answer{}, fail(http.StatusNotFound, "Template '%s' with tag '%s' not found", text, name.tag)
	}
	return answer{status: http.StatusOK, body: map[string]any{"templateID": t.id, "public": t.public}}, nil
}

func (s *Server) listTags(text string) (answer, error) {
	type entry struct {
		Tag       string    `json:"tag"`
		BuildID   string    `json:"buildID"`
		CreatedAt time.Time `json:"createdAt"`
	}
	return s.withTemplate(text, func(t *template) (answer, error) {
		list := []entry{}
		for tag, to := range t.tags {
			list = append(list, entry{tag, to.build.id, to.since})
		}
		slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.Tag, b.Tag) })
		return answer{status: http.StatusOK, body: list}, nil
	})
}

func (s *Server) assignTags(r *http.Request) (answer, error) {
	var request struct {
		Target string   `json:"target"`
		Tags   []string `json:"tags"`
	}
	sc := schema{name: "AssignTemplateTagsRequest", properties: []property{
		{name: "target", kind: "string", required: true}, {name: "tags", kind: "array", required: true},
	}}
	if err := sc.decode(r, &request); err != nil {
		return answer{}, err
	}
	name, problem := parseTemplateName(request.Target)
	if problem != "" {
		return answer{}, fail(http.StatusBadRequest, "Invalid target: %s", problem)
	}
	for _, tag := range request.Tags {
		if problem := tagProblem(tag); problem != "" {
			return answer{}, fail(http.StatusBadRequest, "Invalid tag: %s", problem)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := name.find(s)
	if t == nil {
		return answer{}, fail(http.StatusNotFound, "Template '%s' not found", request.Target)
	}
	from, ok := t.tags[name.tag]
	if !ok {
		return answer{}, fail(http.StatusNotFound, "Template '%s' with tag '%s' not found", request.Target, name.tag)
	}
	for _, tag := range request.Tags {
		t.tags[tag] = tagged{from.build, time.Now()}
	}
	return answer{status: http.StatusCreated, body: map[string]any{"tags": request.Tags, "buildID": from.build.id}}, nil
}

func (s *Server) deleteTags(r *http.Request) (answer, error) {
	var request struct {
		Name string   `json:"name"`
		Tags []string `json:"tags"`
	}
	sc := schema{name: "DeleteTemplateTagsRequest", properties: []property{
		{name: "name", kind: "string", required: true}, {name: "tags", kind: "array", required: true},
	}}
	if err := sc.decode(r, &request); err != nil {
		return answer{}, err
	}
	if slices.Contains(request.Tags, "default") {
		return answer{}, fail(http.StatusBadRequest, "Cannot delete the 'default' tag")
	}
	return s.withTemplate(request.Name, func(t *template) (answer, error) {
		for _, tag := range request.Tags {
			delete(t.tags, tag)
		}
		return answer{status: http.StatusNoContent}, nil
	})
}
