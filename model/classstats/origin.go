package classstats

import "crypto/sha256"

// A Hash is the SHA-256 of a sample's content: of the image file's bytes, or of
// the float32 bytes of a row that has no file (see embedding.HashRow).
type Hash = [sha256.Size]byte

// A SampleID identifies one learned example.
type SampleID struct {
	Content Hash
	Class   string
}
