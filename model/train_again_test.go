package model

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A model that learned nothing is saved, loaded, and retrained into the model that
// Train gives, byte for byte.
func TestRetrainedIsTrained(t *testing.T) {
	dir := t.TempDir()
	batch := noisy(0, 5, strings.Fields("ant bee cat")...)
	want, _, err := Train(context.Background(), defaultSettings("plda"), batch)
	if err != nil {
		t.Fatal(err)
	}
	empty, err := New(defaultSettings("plda"))
	if err != nil {
		t.Fatal(err)
	}
	if err := empty.Save(filepath.Join(dir, "empty")); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(filepath.Join(dir, "empty"))
	if err != nil {
		t.Fatal(err)
	}
	got, o, err := loaded.Retrained(context.Background(), batch)
	if err != nil || o.Added != 15 {
		t.Fatal(o, err)
	}
	same(t, dir, got, want)

	kept, ok := want.Examples()
	if !ok || kept.X.Rows != 15 {
		t.Fatalf("%d examples, %v", kept.X.Rows, ok)
	}
	if got, _, err = want.Retrained(context.Background(), kept); err != nil {
		t.Fatal(err)
	}
	same(t, dir, got, want)
}

func same(t *testing.T, dir string, got, want *Model) {
	t.Helper()
	var files [2][]byte
	for i, m := range []*Model{got, want} {
		file := filepath.Join(dir, "m")
		if err := m.Save(file); err != nil {
			t.Fatal(err)
		}
		var err error
		if files[i], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Errorf("the models differ: %d and %d bytes", len(files[0]), len(files[1]))
	}
}
