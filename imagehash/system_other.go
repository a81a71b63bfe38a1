//go:build !unix

package imagehash

const openFlags = 0
