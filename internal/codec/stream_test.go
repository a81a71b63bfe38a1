package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// plainJSON is what encoding/json makes of v without escaping for HTML.
func plainJSON(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(settle(v)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type pointerJSON struct{ text string }

func (p *pointerJSON) MarshalJSON() ([]byte, error)    { return json.Marshal("<" + p.text + ">") }
func (p *pointerJSON) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &p.text) }

type (
	namedString string
	namedBytes  []byte
	upper       string
)

func (u upper) MarshalText() ([]byte, error) { return []byte(strings.ToUpper(string(u))), nil }
func (u *upper) UnmarshalText(text []byte) error {
	*u = upper(strings.ToLower(string(text)))
	return nil
}

type never struct{ A string }

func (never) IsZero() bool { return true }

type base struct {
	Base  string
	Inner string `json:"inner,omitempty"`
}

type derived struct {
	base
	Inner string `json:"inner"` // hides base's
}

// everything has a field for every rule of encoding/json.
type everything struct {
	String   string `json:"s"`
	Named    namedString
	Bytes    []byte         `json:",omitempty"`
	Raw      namedBytes     `json:"raw"`
	Any      any            `json:"any"`
	Map      map[string]any `json:"map,omitempty"`
	Typed    map[namedString]string
	Ints     map[int]string
	List     []string
	Lists    [][]string
	Numbers  []int32
	Array    [3]string
	Octets   [4]byte
	Pointer  *everything `json:",omitempty"`
	Kids     []everything
	Pointers []*string
	Quoted   int64 `json:",string"`
	Zero     never `json:",omitzero"`
	Time     time.Time
	TimeZero time.Time `json:"tz,omitzero"`
	Message  json.RawMessage
	Number   json.Number
	Custom   pointerJSON
	Customs  []pointerJSON
	Upper    upper
	Big      big.Int
	Embedded derived
	Ignored  chan int `json:"-"`
	//lint:ignore SA5008 it is a rule of encoding/json
	Dash    string `json:"-,"`
	Strange string `json:"stränge name/+"`
	//lint:ignore SA5008 so is this
	BadTag   string `json:"bad\"tag"`
	Floats   []float64
	private  string
	Empty    struct{}
	EmptyMap map[string]string
}

// maker makes random values.
type maker struct {
	*rand.Rand
	long int // of its longest strings
}

var alphabet = []string{"a", "b", "Z", " ", "\"", "\\", "/", "\n", "\t", "\x00", "\x1f", "\x7f", "<", ">", "&", "é", "日", "😀", "\u2028", "\u2029", "\ufffd"}

func (m maker) text() string {
	n := m.IntN(8)
	if m.IntN(3) == 0 {
		n = m.IntN(m.long + 1)
	}
	plain := m.IntN(2) == 0
	var b strings.Builder
	for b.Len() < n {
		if plain {
			b.WriteString("plain")
		} else {
			b.WriteString(alphabet[m.IntN(len(alphabet))])
		}
	}
	return b.String()
}

func (m maker) any(depth int) any {
	switch m.IntN(8) {
	case 0:
		return nil
	case 1:
		return m.IntN(2) == 0
	case 2:
		return float64(m.IntN(1000))
	case 3, 4:
		return m.text()
	case 5:
		list := []any{}
		for range m.IntN(4) {
			if depth > 0 {
				list = append(list, m.any(depth-1))
			}
		}
		return list
	default:
		all := map[string]any{}
		for range m.IntN(4) {
			if depth > 0 {
				all[m.text()] = m.any(depth - 1)
			}
		}
		return all
	}
}

func (m maker) everything(depth int) everything {
	e := everything{
		String: m.text(), Named: namedString(m.text()), Any: m.any(3), Quoted: m.Int64(),
		Zero: never{m.text()}, Time: time.Unix(m.Int64N(1e9), 0).UTC(), Dash: m.text(), Strange: m.text(), BadTag: m.text(),
		Array: [3]string{m.text(), m.text(), ""}, Octets: [4]byte{1, byte(m.IntN(256))},
		Custom: pointerJSON{m.text()}, Upper: upper(strings.ToLower(m.text())), private: "x",
		Number: json.Number(fmt.Sprint(m.IntN(1e6))), Message: json.RawMessage(`{"a":[1,"` + strings.Repeat("r", m.IntN(m.long+1)) + `"]}`),
	}
	e.Big.SetUint64(m.Uint64())
	e.Embedded.Base, e.Embedded.Inner = m.text(), m.text()
	if m.IntN(2) == 0 {
		e.Bytes, e.Raw = []byte(m.text()), namedBytes(m.text())
	}
	for range m.IntN(4) {
		s := m.text()
		e.List, e.Pointers = append(e.List, s), append(e.Pointers, &s, nil)
		e.Lists = append(e.Lists, []string{m.text()}, nil, []string{})
		e.Customs = append(e.Customs, pointerJSON{m.text()})
		e.Floats = append(e.Floats, m.NormFloat64())
	}
	if m.IntN(2) == 0 {
		e.Map, e.Typed, e.Ints = map[string]any{}, map[namedString]string{}, map[int]string{}
		for range m.IntN(4) {
			e.Map[m.text()] = m.any(2)
			e.Typed[namedString(m.text())] = m.text()
			e.Ints[m.IntN(100)] = m.text()
		}
	}
	for range m.IntN(m.long) {
		e.Numbers = append(e.Numbers, m.Int32())
	}
	if depth > 0 && m.IntN(2) == 0 {
		p := m.everything(depth - 1)
		e.Pointer, e.Kids = &p, []everything{m.everything(depth - 1), m.everything(0)}
	}
	return e
}

var compare = cmp.Options{
	cmp.AllowUnexported(pointerJSON{}, base{}, derived{}),
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".private" || p.Last().String() == ".Ignored" }, cmp.Ignore()),
	cmp.Comparer(func(a, b big.Int) bool { return a.Cmp(&b) == 0 }),
}

// checkBothWays writes and reads v piece by piece and compares with encoding/json.
func checkBothWays(t testing.TB, v any, large int) {
	t.Helper()
	want := plainJSON(t, v)
	var b bytes.Buffer
	if err := encodeLarge(&b, settle(v), large, max(large/4, 4)); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Fatalf("written piece by piece, from %d bytes on:\n%s\nencoding/json:\n%s", large, b.String(), want)
	}
	if got, err := Marshal(v); err != nil || string(got) != want {
		t.Fatalf("Marshal:\n%s, %v\nencoding/json:\n%s", got, err, want)
	}
	plain, lifted := reflect.New(reflect.TypeOf(v)), reflect.New(reflect.TypeOf(v))
	if err := Unmarshal(b.Bytes(), plain.Interface()); err != nil {
		t.Fatal(err)
	}
	if unmarshalLarge(strings.NewReader(want), int64(len(want)), lifted.Interface(), int64(large)) {
		if diff := cmp.Diff(plain.Interface(), lifted.Interface(), compare); diff != "" {
			t.Fatalf("read with large strings taken out (-encoding/json +ours):\n%s", diff)
		}
	}
}

func TestLargeValues(t *testing.T) {
	for seed := range uint64(100) {
		m := maker{rand.New(rand.NewPCG(seed, 1)), 60}
		checkBothWays(t, m.everything(2), 1+m.IntN(200))
		checkBothWays(t, m.text(), 5)
		checkBothWays(t, []byte(m.text()), 5)
		checkBothWays(t, []any{m.any(5), m.any(5)}, 10)
	}
}

func FuzzLargeValues(f *testing.F) {
	f.Add(uint64(1), 10, 60, "text")
	f.Fuzz(func(t *testing.T, seed uint64, large, long int, text string) {
		if large < 1 || long < 1 || long > 10_000 {
			t.Skip()
		}
		m := maker{rand.New(rand.NewPCG(seed, 2)), long}
		e := m.everything(1)
		if text = strings.ToValidUTF8(text, "?"); text != "" {
			e.String, e.Bytes = text, []byte(text)
		}
		checkBothWays(t, e, large)
	})
}

// FuzzLiteral compares how strings are read with encoding/json, malformed ones included.
func FuzzLiteral(f *testing.F) {
	for _, s := range []string{`plain text`, `a\u00e9\ud83d\ude00\n`, `\ud800\u0041`, `\ud800`, `\x`, `\u12`, "\x01", "\xff", `aGVsbG8=`, `aGVsbG8`, `\/\/\/`, `aGVsbG8==`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		doc := `{"s":"` + in + `","any":"` + in + `","raw":"` + in + `"}`
		for _, v := range []any{&everything{}, &struct{ S string }{}, &struct{ S, Any []byte }{}} {
			want := reflect.New(reflect.TypeOf(v).Elem()).Interface()
			err := Unmarshal([]byte(doc), want)
			if unmarshalLarge(strings.NewReader(doc), int64(len(doc)), v, 3) {
				if err != nil {
					t.Fatalf("%s was read, but %v", doc, err)
				}
				if diff := cmp.Diff(want, v, compare); diff != "" {
					t.Fatalf("%s (-encoding/json +ours):\n%s", doc, diff)
				}
			}
		}
	})
}

// What is large must go the lean way: that it does not fail does not show it.
func TestLargeStringsAreLifted(t *testing.T) {
	type deep struct {
		Any  any
		Map  map[string][]string
		List []*struct{ Text namedString }
	}
	long := strings.Repeat("0123456789é\n", 1000)
	for _, v := range []any{
		long, []byte(long),
		struct{ A, B string }{long, long},
		map[string]any{"x": []any{long}},
		deep{Any: long, Map: map[string][]string{"k": {"short", long}}, List: []*struct{ Text namedString }{nil, {namedString(long)}}},
	} {
		text := plainJSON(t, v)
		got := reflect.New(reflect.TypeOf(v))
		if !unmarshalLarge(strings.NewReader(text), int64(len(text)), got.Interface(), 100) {
			t.Errorf("%T: not read the lean way", v)
		} else if diff := cmp.Diff(v, got.Elem().Interface(), cmp.AllowUnexported()); diff != "" {
			t.Errorf("%T:\n%s", v, diff)
		}
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	type value struct {
		Text string
		Raw  json.RawMessage // has methods of its own: read the plain way
	}
	want := value{strings.Repeat("x\n", 1<<20), json.RawMessage(`"` + strings.Repeat("y", 1<<20) + `"`)}
	name := filepath.Join(dir, "value")
	text := plainJSON(t, want)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(name, int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var got value
	if err := UnmarshalAt(f, int64(len(text)), &got); err != nil {
		t.Fatal(err)
	}
	if got.Text != want.Text || string(got.Raw) != string(want.Raw) {
		t.Error("another value came back")
	}
	if err := os.Symlink(name, name+".link"); err != nil {
		t.Fatal(err)
	}
	for file, size := range map[string]int64{
		name: int64(len(text)) - 1, name + ".link": int64(len(text)), dir: 0, name + ".none": 0,
	} {
		if f, err := Open(file, size); err == nil {
			f.Close()
			t.Errorf("%s was opened as a file of %d bytes", file, size)
		}
	}
}

func TestEncodeErrorOfWriter(t *testing.T) {
	r, w := io.Pipe()
	r.CloseWithError(io.ErrShortWrite)
	for _, v := range []any{"small", strings.Repeat("large", 1<<20), make([]int, 1<<20)} {
		if err := Encode(w, v); err != io.ErrShortWrite {
			t.Errorf("got %v", err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	for name, v := range map[string]any{
		"text": struct{ S string }{strings.Repeat("plain text ", 1<<20)}, "lines": struct{ S string }{strings.Repeat("line\n", 1<<21)},
		"bytes": struct{ B []byte }{make([]byte, 8<<20)}, "structs": make([]base, 200_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(plainJSON(b, v))))
			for b.Loop() {
				if err := Encode(io.Discard, v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
