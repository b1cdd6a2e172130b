package dataset

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestInsideOfAMount: a folder below the photos is mounted elsewhere, and another one among them.
func TestInsideOfAMount(t *testing.T) {
	dir := t.TempDir()
	at := func(elem ...string) string { return filepath.Join(append([]string{dir}, elem...)...) }
	for _, name := range []string{"photos/deer", "photos/mounted", "elsewhere", "disk"} {
		must.Do(t, os.MkdirAll(at(name), 0o755))
	}
	for from, to := range map[string]string{"photos/deer": "elsewhere", "disk": "photos/mounted"} {
		if err := syscall.Mount(at(from), at(to), "", syscall.MS_BIND, ""); err != nil {
			t.Skip("no mounts here: ", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(at(to), syscall.MNT_DETACH) })
	}
	for path, want := range map[string]bool{"elsewhere/x": true, "disk/x": true, "photos/mounted/x": true, "x": false} {
		if got, err := Inside(t.Context(), at("photos"), at(path)); got != want || err != nil {
			t.Errorf("%s: %t, %v", path, got, err)
		}
	}
}
