//go:build !remotebox_runner

package e2btest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// matching lists the sandboxes that match.
func (s *Server) matching(match func(listedSandbox) bool) []listedSandbox {
	s.mu.Lock()
	boxes := s.all()
	s.mu.Unlock()
	list := []listedSandbox{}
	for _, sb := range boxes {
		sb.mu.Lock()
		item, visible := sb.listed(), sb.state != killed && sb.state != creating
		sb.mu.Unlock()
		if visible && match(item) {
			list = append(list, item)
		}
	}
	return list
}

// listRunning is the old list.
func (s *Server) listRunning(r *http.Request) (answer, error) {
	want, apiErr := metadataFilter(r.URL.Query().Get("metadata"))
	if apiErr != nil {
		return answer{}, apiErr
	}
	list := s.matching(func(item listedSandbox) bool { return item.State == Running && hasAll(item.Metadata, want) })
	return answer{status: http.StatusOK, body: list}, nil
}

// cursor is where a page ends, made opaque for the client.
type cursor struct {
	Time time.Time `json:"t"`
	ID   string    `json:"i"`
}

func (c cursor) compare(other cursor) int {
	if n := c.Time.Compare(other.Time); n != 0 {
		return n
	}
	return strings.Compare(c.ID, other.ID)
}

func (s *Server) listSandboxes(r *http.Request) (answer, error) {
	query := r.URL.Query()
	limit, apiErr := queryInt(query, "limit", 100, 1, 100)
	if apiErr != nil {
		return answer{}, apiErr
	}
	want, apiErr := metadataFilter(query.Get("metadata"))
	if apiErr != nil {
		return answer{}, apiErr
	}
	states := []string{string(Running), string(Paused)}
	if given := query["state"]; len(given) > 0 {
		states = strings.Split(strings.Join(given, ","), ",")
	}
	var after time.Time
	if text := query.Get("startedAfter"); text != "" {
		var err error
		if after, err = time.Parse(time.RFC3339, text); err != nil {
			return answer{}, fail(http.StatusBadRequest, "%sparameter \"startedAfter\" in query has an error: value %s is not a date-time", openAPI, text)
		}
	}
	templateID := ""
	if name := query.Get("template"); name != "" {
		t := s.findTemplate(name)
		if t == nil {
			return answer{status: http.StatusOK, body: []listedSandbox{}}, nil
		}
		templateID = t.id
	}
	list := s.matching(func(item listedSandbox) bool {
		return slices.Contains(states, string(item.State)) && hasAll(item.Metadata, want) &&
			!item.StartedAt.Before(after) && (templateID == "" || item.TemplateID == templateID)
	})
	position := func(item listedSandbox) cursor { return cursor{item.StartedAt, item.SandboxID} }
	direction := -1
	if query.Get("order") == "asc" {
		direction = 1
	}
	slices.SortFunc(list, func(a, b listedSandbox) int { return direction * position(a).compare(position(b)) })
	running := 0
	for _, item := range list {
		if item.State == Running {
			running++
		}
	}
	if token := query.Get("nextToken"); token != "" {
		from, ok := decodeCursor(token)
		if !ok {
			return answer{}, fail(http.StatusBadRequest, "Invalid next token")
		}
		list = slices.DeleteFunc(list, func(item listedSandbox) bool { return direction*position(item).compare(from) <= 0 })
	}
	header := http.Header{"X-Total-Running": {strconv.Itoa(running)}}
	if len(list) > limit {
		list = list[:limit]
		header.Set("X-Next-Token", position(list[limit-1]).encode())
	}
	return answer{status: http.StatusOK, body: list, header: header}, nil
}

func (c cursor) encode() string {
	data, _ := json.Marshal(c) // can't fail
	return base64.RawURLEncoding.EncodeToString(data)
}

func decodeCursor(token string) (c cursor, ok bool) {
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return c, false
	}
	return c, json.Unmarshal(data, &c) == nil
}

// metadataFilter decodes a filter, which is escaped three times over: once as
// any query, once as a whole, once for each key and value (E2B's API server).
func metadataFilter(text string) (map[string]string, *apiError) {
	broken := fail(http.StatusBadRequest, "Error parsing metadata")
	text, err := url.QueryUnescape(text)
	if err != nil {
		return nil, broken
	}
	want := make(map[string]string)
	for pair := range strings.SplitSeq(text, "&") {
		if pair == "" {
			continue
		}
		parts := strings.Split(pair, "=")
		if len(parts) != 2 {
			return nil, broken
		}
		key, err1 := url.QueryUnescape(parts[0])
		value, err2 := url.QueryUnescape(parts[1])
		if err1 != nil || err2 != nil {
			return nil, broken
		}
		want[key] = value
	}
	return want, nil
}

func hasAll(have, want map[string]string) bool {
	for key, value := range want {
		if got, ok := have[key]; !ok || got != value {
			return false
		}
	}
	return true
}
