//go:build !unix

package codec

const noFollow = 0
