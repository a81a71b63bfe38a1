//go:build unix && !remotebox_runner

package daytonatest

import (
	"reflect"
	"testing"
)

func TestMeasuredTimesNameEach(t *testing.T) {
	v := reflect.ValueOf(MeasuredTimes())
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("%s is zero", v.Type().Field(i).Name)
		}
	}
	var cfg Config
	cfg.fill()
	v = reflect.ValueOf(cfg.Times)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("the default of %s is zero", v.Type().Field(i).Name)
		}
	}
}
