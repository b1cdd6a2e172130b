package pipeline

import (
	"errors"
	"io/fs"
	"testing"
)

// TestPhrase: an error names settings as the request does, or as somebody else calls them, and what
// people chose stays as it is.
func TestPhrase(t *testing.T) {
	err := misuse("{class-from} %s needs {images}: %w", "{images}--x%d", fs.ErrNotExist)
	if got, want := err.Error(), "class-from {images}--x%d needs images: file does not exist"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	phrase, usage := (*Phrase)(nil), (*UsageError)(nil)
	if !errors.As(err, &usage) || !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &phrase) {
		t.Fatalf("%#v", err)
	}
	got := phrase.With(func(setting string) string { return "--" + setting })
	if want := "--class-from {images}--x%d needs --images: file does not exist"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
