package openblas

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// here returns the machine's library, or skips the test without one.
func here(t *testing.T) Library {
	t.Helper()
	lib, err := Locate("")
	if err != nil {
		t.Skip(err)
	}
	return lib
}

func TestLocateRefuses(t *testing.T) {
	dir := t.TempDir()
	text, empty := filepath.Join(dir, "libopenblas.so.0"), filepath.Join(dir, "empty")
	for path, content := range map[string]string{text: "not a library\n", empty: ""} {
		must.Do(t, os.WriteFile(path, []byte(content), 0o644))
	}
	for path, says := range map[string]string{
		text: "not a shared library", empty: "empty file", dir: "folder", filepath.Join(dir, "none"): "no such file",
	} {
		_, err := Locate(path)
		if !errors.Is(err, ErrNoLibrary) || !strings.Contains(err.Error(), says) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
		t.Setenv(envLibrary, path)
		if _, err := Locate(""); err == nil || !strings.Contains(err.Error(), "$"+envLibrary) {
			t.Errorf("%s in the environment: %v", path, err)
		}
		if !Ordered("") {
			t.Error("the environment is an order")
		}
	}
}

func TestSearch(t *testing.T) {
	dir := t.TempDir()
	none := filepath.Join(dir, "none.so")
	if _, err := locate("", []string{none}); !errors.Is(err, ErrNoLibrary) ||
		!strings.Contains(err.Error(), remedy()) || strings.Contains(err.Error(), none) {
		t.Errorf("nothing there: %v", err)
	}
	broken := filepath.Join(dir, "broken.so")
	must.Do(t, os.WriteFile(broken, []byte("\x7fELF"), 0o644))
	if _, err := locate("", []string{none, broken}); !errors.Is(err, ErrNoLibrary) ||
		!strings.Contains(err.Error(), broken) {
		t.Errorf("a broken one: %v", err)
	}
	lib := here(t)
	if found, err := locate("", []string{none, broken, lib.Path}); err != nil || found.Path != lib.Path {
		t.Errorf("%v, %v", found, err)
	}
}

// TestOpenTruncated: a library that would kill the process that loads it is an
// error.
func TestOpenTruncated(t *testing.T) {
	whole := must.Get(os.ReadFile(here(t).Path))(t)
	for _, size := range []int{0, 64, 4096, len(whole) / 2, len(whole) - 4096} {
		path := filepath.Join(t.TempDir(), "cut.so")
		must.Do(t, os.WriteFile(path, whole[:size], 0o644))
		if b, err := Open(Library{Path: path}); err == nil {
			t.Errorf("%d of %d bytes: opens, version %s", size, len(whole), b.Version())
		}
	}
}

func TestOpen(t *testing.T) {
	before, was := os.LookupEnv("OPENBLAS_NUM_THREADS")
	b := must.Get(Open(here(t)))(t)
	if b.Version() == "" || b.Library().Path == "" {
		t.Errorf("version %q, library %v", b.Version(), b.Library())
	}
	if v, ok := os.LookupEnv("OPENBLAS_NUM_THREADS"); ok != was || v != before {
		t.Errorf("the environment of the process has changed: %q", v)
	}
	x, out := blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: []float64{3, 4}},
		blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: make([]float64, 1)}
	if err := b.Mul64(out, x, x); err != nil || out.Data[0] != 25 {
		t.Errorf("%v, %v", out.Data, err)
	}
	if err := b.MulPlain64(out, x, blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: x.Data}); err != nil ||
		out.Data[0] != 25 {
		t.Errorf("plain: %v, %v", out.Data, err)
	}
	if err := b.Mul64(blas64.General{}, blas64.General{}, blas64.General{}); err == nil {
		t.Error("a product of nothing is computed")
	}
}

func TestVersionOf(t *testing.T) {
	for config, want := range map[string]string{"OpenBLAS 0.3.21 DYNAMIC_ARCH": "0.3.21", "": "", "x": ""} {
		if got := versionOf(config); got != want {
			t.Errorf("%q: %q", config, got)
		}
	}
}
