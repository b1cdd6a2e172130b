package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestRemoveStaleLeavesWhatIsOpen: what a killed run left goes, unless it was written
// lately; what is open, or is the folder of a running writer, stays however old it is.
func TestRemoveStaleLeavesWhatIsOpen(t *testing.T) {
	dir, err := os.MkdirTemp("", "stale") // t.TempDir cannot be removed under Wine
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = RemoveAll(dir) })
	made := func(name string) string { return filepath.Join(dir, "."+name+".tmp-pipeline-1a") }
	for _, name := range []string{"old", "new", "open"} {
		must.Do(t, os.WriteFile(made(name), nil, 0o644))
	}
	f := must.Get(os.Open(made("open")))(t)
	defer f.Close()
	writer := must.Get(CreateDir(filepath.Join(dir, "folder"), nil))(t)
	defer writer.Abort()
	long := time.Now().Add(-time.Hour)
	for _, name := range []string{made("old"), made("open"), writer.Path()} {
		must.Do(t, os.Chtimes(name, long, long))
	}
	if n, err := RemoveStale(dir); n != 1 || err != nil {
		t.Errorf("%d removed, %v", n, err)
	}
	for name, stays := range map[string]bool{made("old"): false, made("new"): true, made("open"): true,
		writer.Path(): true} {
		if _, err := os.Stat(name); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}
