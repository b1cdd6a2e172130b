package imagelib

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestFind: loading the library of a package is enough, whether it says where the libraries
// beside it are or not; without them it fails. It is taken from the folder that the set-up
// fills, before the system's.
func TestFind(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, c := range []struct {
		of      Library
		version string
	}{{Vips(), "8.18."}, {Heif(), "1.23."}} {
		t.Setenv(c.of.Env, "")
		installed, err := filepath.Glob(filepath.Join(testenv.Libraries(t), c.of.Name+"-*.so.*"))
		if err != nil || len(installed) == 0 {
			testenv.Missing(t, "needs %s as pipeline setup fetches it: run make test-setup", c.of.Name)
		}
		file := filepath.Join(c.of.cacheDir(), filepath.Base(installed[0]))
		must.Do(t, errors.Join(os.MkdirAll(c.of.cacheDir(), 0o755), os.Symlink(installed[0], file)))
		if c.of.Name == "libheif" {
			if _, _, err := c.of.Find(); err == nil || !strings.Contains(err.Error(), "libde265") {
				t.Errorf("without libde265: %v", err)
			}
			beside, err := filepath.Glob(filepath.Join(filepath.Dir(installed[0]), "libde265-*"))
			if err != nil || len(beside) != 1 {
				t.Fatal(beside, err)
			}
			must.Do(t, os.Symlink(beside[0], filepath.Join(c.of.cacheDir(), filepath.Base(beside[0]))))
		}
		path, version, err := c.of.Find()
		if err != nil || path != file || !strings.HasPrefix(version, c.version) {
			t.Errorf("%s: %s %s, %v", c.of.Name, path, version, err)
		}
		if got := c.of.Source(path); !strings.Contains(got, "pipeline setup") {
			t.Errorf("%s is %s", path, got)
		}
	}
}

// TestTooOld: a library without functions that are needed is refused, whatever else it is.
func TestTooOld(t *testing.T) {
	for version, refused := range map[string]bool{"1.18.2": true, "1.19.9": true, "1.20.0": false, "1.23.0": false,
		"2.0.1": false, "0.99": true, "": true, "new": true} {
		if err := Heif().check(version); errors.Is(err, ErrTooOld) != refused {
			t.Errorf("%q: %v", version, err)
		}
	}
}

// TestNamed: a file that is named is the one, or an error.
func TestNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "libvips.so.42")
	t.Setenv(Vips().Env, file)
	if _, err := Vips().Locate(); !errors.Is(err, ErrNoLibrary) || !strings.Contains(err.Error(), "LIBVIPS_LIB") {
		t.Error(err)
	}
	if got := Vips().Source(file); got != "named by LIBVIPS_LIB" {
		t.Error(got)
	}
}
