//go:build unix

package dataset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestInside: a path is among the photos if a scan would find what is written there, whatever the
// path and the folder are called.
func TestInside(t *testing.T) {
	dir := t.TempDir()
	at := func(elem ...string) string { return filepath.Join(append([]string{dir}, elem...)...) }
	for _, name := range []string{"photos/deer/old", "photos2", "work/inner", "linked/deep", "above/photos"} {
		must.Do(t, os.MkdirAll(at(name), 0o755))
	}
	for link, target := range map[string]string{
		"to photos": "photos", "to deer": "photos/deer", "photos/out": "../linked", "work/back": "../photos/deer",
		"to link": "to photos", "above/photos/up": "..", "photos2/self": ".", "photos2/gone": "nowhere",
	} {
		must.Do(t, os.Symlink(target, at(link)))
	}
	t.Chdir(dir)
	for _, c := range []struct {
		folder, path string
		want         bool
	}{
		{"photos", "photos", true}, {"photos", "photos/new/project", true}, {"photos/", "photos/../photos//x", true},
		{"photos", at("photos", "x"), true}, {at("photos"), "photos/x", true},
		{"photos", "work", false}, {"photos", "photos2/x", false}, {"photos", ".", false},
		{"photos/deer", "photos/x", false},
		{"photos", "to photos/x", true}, {"photos", "to deer", true}, {"photos", "to link/new/x", true},
		{"to photos", "photos/x", true}, {"to link", "to deer/old/x", true}, {"photos", "work/back/x", true},
		{"photos", "work/back/../x", false},
		// What a link among the photos leads to is among them.
		{"photos", "linked", true}, {"photos", "linked/deep/x", true}, {"photos/deer", "linked", false},
		{"above/photos", "above/x", true}, {"above/photos", "work", false}, {"photos2", "work", false},
	} {
		if got, err := Inside(t.Context(), c.folder, c.path); got != c.want || err != nil {
			t.Errorf("%s in %s: %t, %v", c.path, c.folder, got, err)
		}
	}
	if _, err := Inside(t.Context(), at("nowhere"), at("x")); !errors.Is(err, ErrNoRoot) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := Inside(ended, at("photos"), at("to deer")); !got || err != nil {
		t.Errorf("a path below the folder is known without a scan: %t, %v", got, err)
	}
	if _, err := Inside(ended, at("photos"), at("linked")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
