package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestLicences: a module's licences are those at its top, in a folder of licences, and of
// the packages that are used; not of others, nor of test data.
func TestLicences(t *testing.T) {
	top := t.TempDir()
	for _, file := range []string{"LICENSE", "PATENTS", "license.go.txt", "THIRD_PARTY_LICENSES/Sun-LICENSE",
		"licenses/ftl.txt", "a/b/LICENSE.txt", "a/NOTICE", "a/licenced.go", "unused/LICENSE", "testdata/COPYING"} {
		path := filepath.Join(top, file)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(file), 0o644))
	}
	files, err := licences(top, []string{top, filepath.Join(top, "a", "b")})
	want := []string{"LICENSE", "PATENTS", "THIRD_PARTY_LICENSES/Sun-LICENSE", "license.go.txt", "licenses/ftl.txt",
		"a/NOTICE", "a/b/LICENSE.txt"}
	if err != nil || !slices.Equal(files, want) {
		t.Errorf("%q, %v, want %q", files, err, want)
	}
	if err := write(t.TempDir(), "none", filepath.Join(top, "testdata"), nil); err != nil {
		t.Errorf("a module with a COPYING: %v", err)
	}
	if err := write(t.TempDir(), "none", t.TempDir(), nil); err == nil {
		t.Error("a module without a licence is packed")
	}
}
