package driver_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/remote-box/remote/driver"
)

func TestSecret(t *testing.T) {
	const text = "do-not-show"
	s := driver.Secret(text)
	type config struct {
		Key   driver.Secret
		Other map[string]driver.Secret
		Ptr   *driver.Secret
	}
	c := config{s, map[string]driver.Secret{"a": s}, &s}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%t", "%20s", "%.2s", "%c", "%U"} {
		for _, v := range []any{s, c, &c, []driver.Secret{s}} {
			if got := fmt.Sprintf(verb, v); strings.Contains(got, text) || strings.Contains(strings.ToLower(got), "646f2d6e6f74") {
				t.Errorf("%s shows %s", verb, got)
			}
		}
	}
	if got := fmt.Sprintf("%v %#v [%v]", s, s, driver.Secret("")); got != `******** "********" []` {
		t.Errorf("%s", got)
	}
	b, err := json.Marshal(c)
	if err != nil || strings.Contains(string(b), text) || !strings.Contains(string(b), `"Key":"********"`) {
		t.Errorf("%s, %v", b, err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "s", s, "c", c)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "s", s, "c", c)
	if strings.Contains(log.String(), text) {
		t.Errorf("%s", &log)
	}
	var read config
	if err := json.Unmarshal([]byte(`{"Key":"`+text+`"}`), &read); err != nil || string(read.Key) != text {
		t.Errorf("%v", err)
	}
}
