package atomicfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestUnreadableFolder: before anything is exchanged Commit says which folder its
// content could not be moved from.
func TestUnreadableFolder(t *testing.T) {
	base := t.TempDir()
	for _, mode := range []fs.FileMode{0, 0o500, 0o300} {
		testenv.AsNobody(t, base, func() {
			dir := filepath.Join(base, mode.String())
			path := filepath.Join(dir, "feat")
			atomicfile.Fill(t, path, map[string]string{"ours": "1", "private/mine": "1"})
			d := must.Get(atomicfile.CreateDir(path, atomicfile.Named("ours")))(t)
			atomicfile.Fill(t, d.Path(), map[string]string{"ours": "2"})
			private := filepath.Join(path, "private")
			must.Do(t, os.Chmod(private, mode))
			err := d.Commit()
			d.Abort()
			if err == nil || !strings.Contains(err.Error(), private+": permission denied") {
				t.Errorf("%v: %v", mode, err)
			}
			must.Do(t, os.Chmod(private, 0o755))
			atomicfile.WantFiles(t, dir, map[string]string{"feat/ours": "1", "feat/private/mine": "1"})
		})
	}
}
