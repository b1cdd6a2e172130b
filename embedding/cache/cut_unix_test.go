//go:build unix

package cache

import (
	"os"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestCutWhileItIsOpen: a file that is cut while it is mapped has missing rows, where the
// system would end the process.
func TestCutWhileItIsOpen(t *testing.T) {
	for _, size := range []int64{0, pageBytes, 2 * pageBytes, 5 * pageBytes} {
		dir := t.TempDir()
		fill(t, dir, 0, damagePhotos)
		c := mustOpen(t, dir, nil)
		must.Do(t, os.Truncate(databases(t, dir)[0], size))
		if rows, _ := hits(t, c, damagePhotos); rows == damagePhotos {
			t.Fatal("nothing is missing")
		}
		put(t, c, 0, damagePhotos)
		mustClose(t, c)
		wantAll(t, "stored again", mustOpen(t, dir, nil), damagePhotos)
	}
}

// TestCutWhileItIsWritten: what was in the file is lost, what comes after is kept.
func TestCutWhileItIsWritten(t *testing.T) {
	for _, size := range []int64{0, pageBytes, 3 * pageBytes} {
		dir := t.TempDir()
		c := mustOpen(t, dir, nil)
		put(t, c, 0, damagePhotos)
		writeNow(t, c)
		must.Do(t, os.Truncate(databases(t, dir)[0], size))
		put(t, c, damagePhotos, damagePhotos+50)
		mustClose(t, c)
		c = mustOpen(t, dir, nil)
		put(t, c, 0, damagePhotos)
		mustClose(t, c)
		wantAll(t, "stored again", mustOpen(t, dir, nil), damagePhotos+50)
	}
}
