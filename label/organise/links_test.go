package organise

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestLinksIn: whether there are symbolic links is found out without a trace; without
// them a photo gets another name.
func TestLinksIn(t *testing.T) {
	dir := t.TempDir()
	if how := LinksIn(dir); how != Links {
		t.Errorf("%q where there are links", how)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v is left, %v", entries, err)
	}
	how := LinksIn(filepath.Join(dir, "none"))
	if how != HardLinks {
		t.Errorf("%q where none can be made", how)
	}
	photo, to := filepath.Join(dir, "photo"), filepath.Join(dir, "to")
	must.Do(t, os.WriteFile(photo, []byte("photo"), 0o644))
	if err := how.Place(photo, to, ""); err != nil || !sameFile(photo, to) {
		t.Errorf("no further name: %v", err)
	}
}
