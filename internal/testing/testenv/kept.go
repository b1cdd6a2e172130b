package testenv

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

var keep = flag.String("keep", "", "write the files of this `version` into testdata, for later versions to read")

// Kept calls read with a copy of the files that each version of the program has left in
// testdata/kept; docs/formats.md says what is promised. With -keep, write first writes
// those of the present version into their folder.
func Kept(tb testing.TB, write func(dir string), read func(version, dir string)) {
	tb.Helper()
	const kept = "testdata/kept"
	if *keep != "" {
		dir := filepath.Join(kept, *keep)
		must.Do(tb, os.MkdirAll(dir, 0o755))
		write(dir)
	}
	versions, err := os.ReadDir(kept)
	if err != nil || len(versions) == 0 {
		tb.Fatalf("no kept files: %v", err)
	}
	for _, version := range versions {
		dir := filepath.Join(tb.TempDir(), version.Name())
		must.Do(tb, os.CopyFS(dir, os.DirFS(filepath.Join(kept, version.Name()))))
		read(version.Name(), dir)
	}
}
