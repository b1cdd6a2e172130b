package cache

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestKeptFiles: caches of earlier versions are used, except those of 0.2, which are
// left as they are.
func TestKeptFiles(t *testing.T) {
	testenv.Kept(t, func(dir string) { fill(t, dir, 0, 3) }, func(version, dir string) {
		before := contents(t, dir)
		c := mustOpen(t, dir, nil)
		if version != "0.2" {
			wantAll(t, version, c, 3)
			return
		}
		put(t, c, 0, 3)
		mustClose(t, c)
		wantAll(t, version, mustOpen(t, dir, nil), 3)
		after := contents(t, dir)
		maps.DeleteFunc(after, func(file, _ string) bool { return filepath.Ext(file) == extension })
		if len(before) == 0 || !maps.Equal(before, after) {
			t.Errorf("%s: the files of that version have changed", version)
		}
	})
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, file := range filesIn(t, dir) {
		b := must.Get(os.ReadFile(filepath.Join(dir, file)))(t)
		all[file] = string(b)
	}
	return all
}
