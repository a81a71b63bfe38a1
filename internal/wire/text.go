package wire

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Text is a string that travels byte for byte: encoding/json alone would replace what is not
// UTF-8. It is a JSON string where it can be, else an array that holds its base64.
type Text string

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal([][]byte{[]byte(t)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		var parts [][]byte
		if err := json.Unmarshal(data, &parts); err != nil {
			return err
		}
		*t = Text(bytes.Join(parts, nil))
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}

// Cut returns s, or its beginning and a note of how much is missing if it is longer than limit.
func Cut(s string, limit int) Text {
	if len(s) <= limit {
		return Text(s)
	}
	end := limit
	for end > 0 && limit-end < utf8.UTFMax-1 && !utf8.RuneStart(s[end]) {
		end--
	}
	return Text(s[:end] + "… (cut here)")
}
