package testenv

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
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
		if err := os.MkdirAll(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
		write(dir)
	}
	versions, err := os.ReadDir(kept)
	if err != nil || len(versions) == 0 {
		tb.Fatalf("no kept files: %v", err)
	}
	for _, version := range versions {
		dir := filepath.Join(tb.TempDir(), version.Name())
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(kept, version.Name()))); err != nil {
			tb.Fatal(err)
		}
		read(version.Name(), dir)
	}
}
