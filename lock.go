package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/registry"
)

// LockFile is the name of the file that `remote-box build` writes: which images a module's
// functions run in. It is made to be committed, and to be embedded in programs that are deployed
// without their sources (see [UseLock]). It holds no secrets.
const LockFile = "remote-box.lock.json"

// LockVariable is the environment variable that names a lock file, for deployed programs.
const LockVariable = "REMOTE_BOX_LOCK"

const lockVersion = 1

// Lock is the content of a lock file.
type Lock struct {
	Images []LockedImage
}

// LockedImage is the image of one program on one backend.
type LockedImage struct {
	Program string        `json:"program"` // its module, or "main:" and its main package
	Backend string        `json:"backend"`
	Prefix  string        `json:"prefix"` // the backend value's name for its images
	Image   string        `json:"image"`
	Parts   []driver.Part `json:"parts,omitempty"` // what the name is made of
}

type lockJSON struct {
	Version int           `json:"version"`
	Images  []LockedImage `json:"images"`
}

// lockVersionError is the version of a lock file that this program does not read. It is an
// errors.ErrUnsupported: what such a file says is not to be thrown away.
type lockVersionError int

func (e lockVersionError) Error() string {
	return fmt.Sprintf("a lock file of version %d, this program reads version %d; use the version of remote-box that wrote it, or remove it and write it anew with: remote-box build", int(e), lockVersion)
}

func (lockVersionError) Is(target error) bool { return target == errors.ErrUnsupported }

// ParseLock reads a lock file's content. The error of one that another version of this package
// has written satisfies errors.Is(err, errors.ErrUnsupported); of others nothing can be read.
func ParseLock(data []byte) (*Lock, error) {
	var j lockJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return nil, fmt.Errorf("a lock file that is no JSON: %w; write it anew with: remote-box build", err)
	}
	if j.Version != lockVersion {
		return nil, lockVersionError(j.Version)
	}
	for _, i := range j.Images {
		if i.Program == "" || i.Backend == "" || i.Image == "" {
			return nil, errors.New("a lock file with an image that lacks program, backend or image; write it anew with: remote-box build")
		}
	}
	return &Lock{j.Images}, nil
}

// Bytes is the lock file's content: the same for the same images, in any order.
func (l *Lock) Bytes() []byte {
	byKey := map[string]LockedImage{}
	for _, i := range l.Images {
		byKey[i.key()] = i
	}
	j := lockJSON{Version: lockVersion, Images: []LockedImage{}}
	for _, k := range slices.Sorted(maps.Keys(byKey)) {
		j.Images = append(j.Images, byKey[k])
	}
	b, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		panic(err) // it holds nothing but strings
	}
	return append(b, '\n')
}

func (i *LockedImage) key() string { return i.Program + "\x00" + i.Backend + "\x00" + i.Prefix }

// Find returns the image of a program on a backend.
func (l *Lock) Find(program, backend, prefix string) (LockedImage, bool) {
	for _, i := range l.Images {
		if i.Program == program && i.Backend == backend && i.Prefix == prefix {
			return i, true
		}
	}
	return LockedImage{}, false
}

// UseLock hands a lock file's content to the program, for a deployment without sources:
//
//	//go:embed remote-box.lock.json
//	var lock []byte
//
//	func main() {
//		if err := remote.UseLock(lock); err != nil { … }
//
// The file that the variable REMOTE_BOX_LOCK names comes before it. UseLock may be called several
// times, for locks of several modules; it is not for use while calls are made.
func UseLock(data []byte) error {
	l, err := ParseLock(data)
	if err != nil {
		return fmt.Errorf("remote.UseLock: %w", err)
	}
	for _, i := range l.Images {
		registry.SetLocked(i.key(), i.Image)
	}
	return nil
}

// locked finds a program's image: in the file that LockVariable names, then in what UseLock got.
func locked(program, backend, prefix string) (string, bool, error) {
	if name := os.Getenv(LockVariable); name != "" {
		data, err := os.ReadFile(name)
		if err != nil {
			return "", false, fmt.Errorf("%s: %w", LockVariable, err)
		}
		l, err := ParseLock(data)
		if err != nil {
			return "", false, fmt.Errorf("%s: %s: %w", LockVariable, name, err)
		}
		if i, ok := l.Find(program, backend, prefix); ok {
			return i.Image, true, nil
		}
	}
	i := LockedImage{Program: program, Backend: backend, Prefix: prefix}
	image, ok := registry.Locked(i.key())
	return image, ok, nil
}
