//go:build unix

package model

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestPrivateModelStaysPrivate, with its statistics and its previous version.
func TestPrivateModelStaysPrivate(t *testing.T) {
	path := saved(t)
	const private = 0o600
	for _, name := range names(t, filepath.Dir(path)) {
		must.Do(t, os.Chmod(filepath.Join(filepath.Dir(path), name), private))
	}
	for s := 1; s <= 2; s++ {
		m := loaded(t, path)
		learn(t, m, batch(s, 2, 3, "elk"))
		save(t, m, path)
	}
	must.Do(t, os.Chmod(path+previousSuffix, 0o644))
	must.Do(t, copyFile(path+previousSuffix, path))
	for _, name := range names(t, filepath.Dir(path)) {
		info, err := os.Stat(filepath.Join(filepath.Dir(path), name))
		if err != nil || info.Mode().Perm() != private {
			t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
		}
	}
}
