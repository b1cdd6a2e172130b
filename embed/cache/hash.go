package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// A Hash is the SHA-256 of the bytes of a file.
type Hash [sha256.Size]byte

// HashOf hashes the bytes of a file.
func HashOf(file []byte) Hash { return sha256.Sum256(file) }

// String is 64 hex digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads 64 hex digits.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if n, err := hex.Decode(h[:], []byte(s)[:min(len(s), 2*len(h))]); err != nil || n != len(h) || len(s) != 2*len(h) {
		return Hash{}, fmt.Errorf("parse hash %.80q: need %d hex digits", s, 2*len(h))
	}
	return h, nil
}

// A Namespace separates embeddings that must never be mixed: those of another
// model, other model settings, or other pixels.
type Namespace struct {
	// Extractor is the fingerprint of the model and its settings, Preprocess
	// that of everything that changes pixels.
	Extractor, Preprocess string
}

// Key names the folder of the namespace: 32 hex digits.
func (n Namespace) Key() string {
	text := fmt.Sprintf("pipeline embeddings 1\n%q\n%q\n", n.Extractor, n.Preprocess)
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}
