package remote

import (
	"encoding/json"
	"fmt"
)

// refVersion is the version of a SessionRef's JSON.
const refVersion = 1

// SessionRef finds a session's sandbox again, from any process: see [Resume]. It is small and
// holds no secrets; its JSON is made to be stored.
type SessionRef struct {
	Backend string // name of the backend
	Sandbox string // the sandbox's id there
	Image   string // the image that it was made from, if it was made from one
}

type refJSON struct {
	Version int    `json:"v"`
	Backend string `json:"backend"`
	Sandbox string `json:"sandbox"`
	Image   string `json:"image,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (r SessionRef) MarshalJSON() ([]byte, error) {
	return json.Marshal(refJSON{refVersion, r.Backend, r.Sandbox, r.Image})
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *SessionRef) UnmarshalJSON(data []byte) error {
	var j refJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	if j.Version != refVersion {
		return fmt.Errorf("a session ref of version %d; this program knows version %d", j.Version, refVersion)
	}
	if j.Backend == "" || j.Sandbox == "" {
		return fmt.Errorf("a session ref needs the fields backend and sandbox")
	}
	*r = SessionRef{j.Backend, j.Sandbox, j.Image}
	return nil
}
