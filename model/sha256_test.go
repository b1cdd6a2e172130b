package model

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"testing"
)

func TestSHA256IsThatOfTheFile(t *testing.T) {
	m := trained(t)
	if m.SHA256() != "" {
		t.Errorf("a model without a file has the hash %s", m.SHA256())
	}
	path := filepath.Join(t.TempDir(), "m.model")
	save(t, m, path)
	want := fmt.Sprintf("%x", sha256.Sum256(contents(t, path)))
	if got := m.SHA256(); got != want {
		t.Errorf("after saving: %s, the file has %s", got, want)
	}
	if got := loaded(t, path).SHA256(); got != want {
		t.Errorf("after loading: %s, the file has %s", got, want)
	}
}
