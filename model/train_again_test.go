package model

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// A model that learned nothing is saved, loaded, and retrained into the model that
// Train gives, byte for byte.
func TestRetrainedIsTrained(t *testing.T) {
	dir := t.TempDir()
	batch := noisy(0, 5, strings.Fields("ant bee cat")...)
	want, _ := must.Get2(Train(context.Background(), defaultSettings("plda"), batch))(t)
	empty := must.Get(New(defaultSettings("plda")))(t)
	must.Do(t, empty.Save(filepath.Join(dir, "empty")))
	loaded := must.Get(Load(filepath.Join(dir, "empty")))(t)
	got, o, err := loaded.Retrained(context.Background(), batch)
	if err != nil || o.Added != 15 {
		t.Fatal(o, err)
	}
	same(t, dir, got, want)

	kept, ok := want.Examples()
	if !ok || kept.X.Rows != 15 {
		t.Fatalf("%d examples, %v", kept.X.Rows, ok)
	}
	got, _ = must.Get2(want.Retrained(context.Background(), kept))(t)
	same(t, dir, got, want)
}

func same(t *testing.T, dir string, got, want *Model) {
	t.Helper()
	var files [2][]byte
	for i, m := range []*Model{got, want} {
		file := filepath.Join(dir, "m")
		must.Do(t, m.Save(file))
		var err error
		if files[i], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
		must.Do(t, os.Remove(file))
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Errorf("the models differ: %d and %d bytes", len(files[0]), len(files[1]))
	}
}
