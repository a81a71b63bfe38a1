//go:build unix && !remotebox_runner

package daytonatest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestLists(t *testing.T) {
	c := newClient(t, Config{})
	ids := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		ids[name] = c.create(fields{"name": name, "labels": fields{"name": name, "all": "yes"}, "env": fields{"K": "v"}})
	}
	names := func(query string) string {
		t.Helper()
		var out []string
		for cursor := ""; ; {
			var page struct {
				Items      []fields
				NextCursor *string
			}
			a := c.is(c.api("GET", "/sandbox?"+query+"&cursor="+cursor, nil), 200)
			if err := json.Unmarshal(a.body, &page); err != nil {
				t.Fatal(err)
			}
			for _, item := range page.Items {
				if _, ok := item["env"]; ok {
					t.Error("an item shows its environment")
				}
				out = append(out, item["name"].(string))
			}
			if page.NextCursor == nil {
				return strings.Join(out, " ")
			}
			cursor = *page.NextCursor
		}
	}
	for query, want := range map[string]string{
		"limit=1&sort=name&order=asc":  "a b c",
		"limit=2&sort=name&order=desc": "c b a",
		"":                             "c b a",
		"labels=" + url.QueryEscape(`{"name":"b"}`):               "b",
		"labels=" + url.QueryEscape(`{"all":"yes","name":"x"}`):   "",
		"id=" + ids["c"][:13]:                                     "c",
		"states=stopped":                                          "",
		"states=stopped,started&sort=name&order=asc&regionIds=us": "a b c",
		"sandboxClasses=linux-vm":                                 "",
	} {
		if got := names(query); got != want {
			t.Errorf("list?%s: %q, want %q", query, got, want)
		}
	}
	c.is(c.api("GET", "/sandbox?labels=x", nil), 400)
	page := c.object(c.is(c.api("GET", "/sandbox/paginated?limit=2&page=2", nil), 200))
	if page["total"] != 3.0 || page["totalPages"] != 2.0 || len(page["items"].([]any)) != 1 {
		t.Errorf("page: %v", page)
	}
	c.is(c.api("PUT", "/sandbox/a/labels", fields{"labels": fields{"new": "1"}}), 200, `"labels":{"new":"1"}`)
	if got := names("labels=" + url.QueryEscape(`{"all":"yes"}`)); got != "c b" {
		t.Errorf("labels are replaced, not merged: %q", got)
	}
}

func TestPagination(t *testing.T) {
	for _, tt := range []struct {
		query, want string
	}{{"", "1 of 1: 3"}, {"page=2&limit=2", "2 of 2: 1"}, {"page=9&limit=2", "9 of 2: 0"}, {"limit=0", "refused"}, {"page=x", "refused"}} {
		q, err := url.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		got := "refused"
		if page, part, err := paginate(q, []int{1, 2, 3}); err == nil {
			got = fmt.Sprintf("%v of %v: %d", page["page"], page["totalPages"], len(part))
		}
		if got != tt.want {
			t.Errorf("%q: %s, want %s", tt.query, got, tt.want)
		}
	}
}
