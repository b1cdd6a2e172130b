package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// Key returns the SHA-256 of values as JSON: a key that changes with each of
// them.
func Key(of ...any) (string, error) {
	text, err := json.Marshal(of)
	if err != nil {
		return "", fmt.Errorf("checkpoint key: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// A Part is one part of a job, with a value stored as JSON.
type Part[T any] struct {
	Folder    *Folder
	Name, Key string
}

// Load returns the value that was last saved under the key, nil if there is
// none.
func (p Part[T]) Load() *T {
	s, ok := p.Folder.Load(p.Name, p.Key)
	if !ok {
		return nil
	}
	var v *T
	if json.Unmarshal(s.Settings, &v) != nil {
		return nil
	}
	return v
}

// Save replaces the value.
func (p Part[T]) Save(v T) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return p.Folder.Save(p.Name, p.Key, classifier.State{Settings: text})
}

// Remove deletes the value if it exists.
func (p Part[T]) Remove() error { return p.Folder.Remove(p.Name) }
