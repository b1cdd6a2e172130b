package featdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestOnlyFeaturesAreReplaced: something else with the name of a feature file is
// refused, a link to a feature folder is followed, and one to nothing stays.
func TestOnlyFeaturesAreReplaced(t *testing.T) {
	base := t.TempDir()
	in := func(name string) string { return filepath.Join(base, name) }
	photo := filepath.Join(in("feat"), metaName, "a.jpg")
	must.Do(t, os.MkdirAll(filepath.Dir(photo), 0o755))
	must.Do(t, os.WriteFile(photo, nil, 0o644))
	for link, target := range map[string]string{"lost": "unmounted", "link": "real"} {
		if err := os.Symlink(target, in(link)); err != nil {
			t.Skip(err)
		}
	}
	for name, word := range map[string]string{"feat": metaName, "lost": "link to unmounted"} {
		w, err := NewWriter(in(name), embedding.Provenance{Dim: 1})
		if err == nil {
			err = w.Close()
		}
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(photo); err != nil {
		t.Error(err)
	}
	if target, err := os.Readlink(in("lost")); err != nil || target != "unmounted" {
		t.Errorf("%q, %v", target, err)
	}
	must.Do(t, os.Mkdir(in("real"), 0o755))
	for range 2 {
		writeFeatures(t, in("link"), []dataset.Sample{{Path: "a"}}, embedding.Provenance{Dim: 1})
	}
	if target, err := os.Readlink(in("link")); err != nil || target != "real" {
		t.Errorf("%q, %v", target, err)
	}
	if f, err := Read(in("real")); err != nil || len(f.Samples) != 1 {
		t.Errorf("%+v, %v", f.Samples, err)
	}
}
