// Package rand makes names that nobody can guess.
package rand

import "crypto/rand"

// Alphabet is what Text is made of: 32 letters and digits, 5 bits each.
const Alphabet = "abcdefghijklmnopqrstuvwxyz234567"

// Text returns n random characters of Alphabet.
func Text(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails, see its documentation
	for i := range b {
		b[i] = Alphabet[b[i]%32]
	}
	return string(b)
}
