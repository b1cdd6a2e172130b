package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// A Hash is the SHA-256 of a file's bytes.
type Hash [sha256.Size]byte

// HashOf returns the Hash of a file's bytes.
func HashOf(file []byte) Hash { return sha256.Sum256(file) }

// String returns 64 hex digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// A Namespace separates embeddings that must never be mixed: those of another
// model, other model settings, or other pixels.
type Namespace struct {
	// Extractor is the fingerprint of the model and its settings; Preprocess is
	// that of everything that changes pixels.
	Extractor, Preprocess string
}

const namespaceBytes = 16

// key returns what the keys of the namespace begin with.
func (n Namespace) key() [namespaceBytes]byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "pipeline embeddings 1\n%q\n%q\n", n.Extractor, n.Preprocess))
	return [namespaceBytes]byte(sum[:namespaceBytes])
}
