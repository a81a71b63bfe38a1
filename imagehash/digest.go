package imagehash

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// digestPrefix names the scheme of the package comment. Any change to what is hashed, or to what is left out without the
// ignore file saying so, is a new prefix.
const digestPrefix = "c1:"

// Sum is a plain SHA-256. Its text is 64 lower-case hexadecimal digits.
type Sum [sha256.Size]byte

func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// Digest identifies everything in a context that an image built from it could contain. Its text is "c1:" and 64 lower-case
// hexadecimal digits. Digests are comparable; the zero value is the digest of no context (an empty one has another).
type Digest [sha256.Size]byte

func (d Digest) String() string { return digestPrefix + hex.EncodeToString(d[:]) }

// MarshalText implements [encoding.TextMarshaler].
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]: it accepts what [ParseDigest] does.
func (d *Digest) UnmarshalText(text []byte) error {
	parsed, err := ParseDigest(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// ParseDigest is the inverse of [Digest.String], and accepts nothing else.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	digits, ok := strings.CutPrefix(s, digestPrefix)
	if !ok {
		return Digest{}, fmt.Errorf("imagehash: digest %q does not start with %q: another version of remote-box made it", s, digestPrefix)
	}
	if len(digits) != hex.EncodedLen(len(d)) || strings.ToLower(digits) != digits {
		return Digest{}, fmt.Errorf("imagehash: digest %q is not %d lower-case hexadecimal digits after %q", s, hex.EncodedLen(len(d)), digestPrefix)
	}
	if _, err := hex.Decode(d[:], []byte(digits)); err != nil {
		return Digest{}, fmt.Errorf("imagehash: digest %q: %w", s, err)
	}
	return d, nil
}

// digest hashes the records of entries, which must be sorted by path.
func digest(entries []Entry) Digest {
	h := sha256.New()
	var buf []byte
	for _, e := range entries {
		buf = appendRecord(buf[:0], e)
		h.Write(buf)
	}
	return Digest(h.Sum(nil))
}

// appendRecord appends what is hashed of an entry. The package comment says the same in shell; a test compares them.
func appendRecord(dst []byte, e Entry) []byte {
	dst = append(dst, e.letter(), ' ')
	if e.Kind == Dir {
		dst = append(dst, '-')
	} else {
		dst = hex.AppendEncode(dst, e.Sum[:])
	}
	dst = append(dst, ' ')
	dst = append(dst, e.Path...)
	return append(dst, 0)
}
