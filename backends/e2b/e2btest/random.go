//go:build !remotebox_runner

package e2btest

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
)

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// randomID is 20 characters of a-z and 0-9.
func randomID() string { return strings.ToLower(rand.Text())[:20] }

func randomUUID() string {
	b := make([]byte, 16)
	rand.Read(b)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
