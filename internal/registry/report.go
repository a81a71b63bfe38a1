package registry

// Entry describes a registered function to another process.
type Entry struct {
	Package     string `json:"package"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	File        string `json:"file"`
	Line        int    `json:"line"`
	Fingerprint string `json:"types"`
	In          string `json:"in"`
	Out         string `json:"out"`
}

// Report lists the registered functions.
func Report() []Entry {
	entries := []Entry{}
	for _, f := range All() {
		entries = append(entries, Entry{
			Package: f.Package, Name: f.Name, Description: f.Description,
			File: f.File, Line: f.Line, Fingerprint: f.Fingerprint, In: f.In, Out: f.Out,
		})
	}
	return entries
}
