package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Draft is what a part that takes long has come to, kept beside the finished
// parts until the part is finished itself.
type Draft[T any] struct{ file, key string }

// DraftOf returns the draft of a part of that name with those inputs.
func DraftOf[T any](s Env, name string, of Inputs) (Draft[T], error) {
	key, err := s.key(of)
	if err != nil {
		return Draft[T]{}, fmt.Errorf("draft of %s: %w", name, err)
	}
	return Draft[T]{filepath.Join(s.Dir, "parts", name+".draft.json"), key}, nil
}

// Read returns what was saved last; nil where there is nothing, or what there is
// has other inputs or is damaged.
func (d Draft[T]) Read() (*T, error) {
	v, ok, err := readPart[T](d.file, d.key)
	if !ok || err != nil {
		return nil, err
	}
	return &v, nil
}

// Save replaces the draft.
func (d Draft[T]) Save(v T) error { return writePart(d.file, d.key, v) }

// Drop removes the draft, if there is one.
func (d Draft[T]) Drop() error {
	if err := os.Remove(d.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
