//go:build !remotebox_runner

package daytonatest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (s *Server) listSandboxes(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	q := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.filter(q)
	if err != nil {
		return 0, nil, err
	}
	limit, err := queryInt(q, "limit", 100, 1, 200)
	if err != nil {
		return 0, nil, err
	}
	// A cursor is the last identifier of the page before. Where that sandbox is gone, so is the order.
	if cursor := q.Get("cursor"); cursor != "" {
		id, err := base64.RawURLEncoding.DecodeString(cursor)
		at := slices.IndexFunc(found, func(sb *sandbox) bool { return sb.id == string(id) })
		if err != nil || at < 0 {
			return 0, nil, fail(400, "Invalid cursor")
		}
		found = found[at+1:]
	}
	next := (*string)(nil)
	if len(found) > limit {
		found = found[:limit]
		c := base64.RawURLEncoding.EncodeToString([]byte(found[limit-1].id))
		next = &c
	}
	return 200, map[string]any{"items": s.items(found, true), "nextCursor": next}, nil
}

func (s *Server) pageSandboxes(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	q := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.filter(q)
	if err != nil {
		return 0, nil, err
	}
	page, part, err := paginate(q, found)
	if err != nil {
		return 0, nil, err
	}
	page["items"] = s.items(part, false)
	return 200, page, nil
}

// items describes sandboxes; the newer list leaves their environment out.
func (s *Server) items(list []*sandbox, bare bool) []sandboxDTO {
	items := make([]sandboxDTO, 0, len(list))
	for _, sb := range list {
		d := s.dto(sb)
		if bare {
			d.Env = nil
		}
		items = append(items, d)
	}
	return items
}

// filter applies a list's query. s.mu is held.
func (s *Server) filter(q url.Values) ([]*sandbox, error) {
	var labels map[string]string
	if text := q.Get("labels"); text != "" {
		if err := json.Unmarshal([]byte(text), &labels); err != nil {
			return nil, fail(400, "Invalid labels JSON format")
		}
	}
	states, snapshots := list(q, "states"), list(q, "snapshots")
	regions, classes := list(q, "regionIds"), list(q, "sandboxClasses")
	in := func(set []string, v string) bool { return len(set) == 0 || slices.Contains(set, v) }
	var found []*sandbox
	for _, sb := range s.sandboxes {
		ok := sb.state != "destroying" && strings.HasPrefix(sb.id, q.Get("id")) && strings.Contains(sb.name, q.Get("name")) &&
			in(states, sb.state) && in(snapshots, sb.snapshot) && in(regions, sb.region) && in(classes, sb.class)
		for k, v := range labels {
			ok = ok && sb.labels[k] == v
		}
		if ok {
			found = append(found, sb)
		}
	}
	slices.SortStableFunc(found, func(a, b *sandbox) int {
		switch q.Get("sort") {
		case "name":
			return strings.Compare(a.name, b.name)
		case "cpu":
			return cmp.Compare(a.cpu, b.cpu)
		case "memoryGib":
			return cmp.Compare(a.memory, b.memory)
		case "diskGib":
			return cmp.Compare(a.disk, b.disk)
		case "lastActivityAt":
			return a.lastActivity.Compare(b.lastActivity)
		}
		return a.created.Compare(b.created)
	})
	if order := q.Get("order"); order == "desc" || order == "" && q.Get("sort") == "" {
		slices.Reverse(found) // newest first
	}
	return found, nil
}

// list reads a query parameter that is repeated or separated by commas.
func list(q url.Values, name string) []string {
	var out []string
	for _, v := range q[name] {
		for part := range strings.SplitSeq(v, ",") {
			if part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

func queryInt(q url.Values, name string, fallback, least, most int) (int, error) {
	text := q.Get(name)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fail(400, "%s must be a number between %d and %d", name, least, most)
	}
	return n, nil
}

// paginate cuts one page out of a list.
func paginate[T any](q url.Values, all []T) (map[string]any, []T, error) {
	page, err := queryInt(q, "page", 1, 1, 1<<30)
	if err != nil {
		return nil, nil, err
	}
	limit, err := queryInt(q, "limit", 100, 1, 200)
	if err != nil {
		return nil, nil, err
	}
	from := min((page-1)*limit, len(all))
	to := min(from+limit, len(all))
	return map[string]any{"total": len(all), "page": page, "totalPages": (len(all) + limit - 1) / limit}, all[from:to], nil
}

func (s *Server) getConfig(w http.ResponseWriter, _ *http.Request) {
	rate := func(name string) map[string]int {
		limit, ok := s.cfg.RateLimits[name]
		if !ok {
			limit = 10_000
		}
		return map[string]int{"ttl": int(s.cfg.Minute / time.Second), "limit": limit}
	}
	w.Header().Set("X-Daytona-Api-Version", s.version())
	writeJSON(w, 200, map[string]any{
		"version": s.version(), "proxyToolboxUrl": s.ToolboxURL(), "proxyTemplateUrl": s.apiURL + "/preview/{{PORT}}-{{sandboxId}}",
		"defaultSnapshot": defaultSnapshot, "maxAutoArchiveInterval": 43200, "maintananceMode": false,
		"rateLimit": map[string]any{
			"failedAuth": rate("failed-auth"), "authenticated": rate("authenticated"), "sandboxCreate": rate("sandbox-create"),
			"sandboxLifecycle": rate("sandbox-lifecycle"), "sandboxList": rate("sandbox-list"),
		},
	})
}

func (s *Server) getHealth(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, 200, map[string]any{"status": "ok"})
}

func (s *Server) regions() []map[string]any {
	var out []map[string]any
	for _, name := range s.cfg.Regions {
		out = append(out, map[string]any{
			"id": name, "name": name, "organizationId": nil, "regionType": "shared",
			"createdAt": stamp(time.Unix(0, 0)), "updatedAt": stamp(time.Unix(0, 0)),
		})
	}
	return out
}

func (s *Server) getSharedRegions(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, 200, s.regions())
}

func (s *Server) getRegions(http.ResponseWriter, *http.Request) (int, any, error) {
	return 200, s.regions(), nil
}

func (s *Server) getUsage(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	if r.PathValue("id") != s.orgID {
		return 0, nil, fail(403, "Forbidden resource")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	cpu, memory, disk := s.used(nil)
	var own int
	for _, sn := range s.snapshots {
		if !sn.general {
			own++
		}
	}
	q := s.cfg.Quota
	return 200, map[string]any{
		"regionUsage": []map[string]any{{
			"regionId": s.cfg.Regions[0], "totalCpuQuota": q.CPU, "currentCpuUsage": cpu,
			"totalMemoryQuota": q.Memory, "currentMemoryUsage": memory, "totalDiskQuota": q.Disk, "currentDiskUsage": disk,
			"maxCpuPerSandbox": q.CPUPerSandbox, "maxMemoryPerSandbox": q.MemoryPerSandbox, "maxDiskPerSandbox": q.DiskPerSandbox,
		}},
		"totalSnapshotQuota": q.Snapshots, "currentSnapshotUsage": own, "totalVolumeQuota": 0, "currentVolumeUsage": 0,
	}, nil
}
