// Package scripts tests the Python scripts in its folder.
package scripts

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// python returns a Python with NumPy and SciPy: $PIPELINE_PYTHON or python3.
// Without one the test is skipped, but fails in CI.
func python(t *testing.T) string {
	t.Helper()
	name := os.Getenv("PIPELINE_PYTHON")
	if name == "" {
		name = "python3"
	}
	out, err := exec.Command(name, "-c", "import numpy, scipy.io").CombinedOutput()
	if err == nil {
		return name
	}
	message := fmt.Sprintf("needs a Python with NumPy and SciPy, named by PIPELINE_PYTHON: %s: %v\n%s", name, err, out)
	if os.Getenv("CI") != "" {
		t.Fatal(message)
	}
	t.Skip(message)
	return ""
}

// importCUB runs the script and returns its exit status and what it says.
func importCUB(t *testing.T, python string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(python, append([]string{"-B", "import_cub.py"}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func cubArgs(mat, cub, out string) []string {
	return []string{"--mat", mat, "--cub", cub, "--out", out}
}

// The data set of testdata/make_cub.py.
const (
	testImages = 12
	testDim    = 8
)

func testImage(i int) string {
	class := []string{"001.Black_footed_Albatross", "002.Laysan_Albatross", "010.Red_winged_Blackbird"}[i/4]
	return fmt.Sprintf("%s/%s_%04d_%d.jpg", class, class[4:], i%4, 100+i%4)
}

// testRow is the sample and the embedding of column i.
func testRow(i int) (dataset.Sample, []float32) {
	image := (7*i + 3) % testImages
	s := dataset.Sample{Path: testImage(image), Split: "train"}
	s.Label, _, _ = strings.Cut(s.Path, "/")
	if image%4 == 1 {
		s.Split = "test"
	}
	var row []float32
	for j := range testDim {
		v := float32(image%4)/4 + float32(j)/64
		if image/4 == j {
			v += 8
		}
		row = append(row, v)
	}
	return s, row
}

// TestImportCUBGolden compares the output byte for byte with testdata/want, which
// was written by a former command of the program (testdata/make_want.sh). Only the
// tool named in meta.json differs.
func TestImportCUBGolden(t *testing.T) {
	python := python(t)
	for _, mat := range []string{"res101.mat", "plain.mat", "odd/double.mat", "odd/single.mat", "odd/int16.mat"} {
		t.Run(mat, func(t *testing.T) {
			t.Parallel()
			mat := filepath.Join("testdata", mat)
			out := filepath.Join(t.TempDir(), "feats")
			want := filepath.Join("testdata", "want", strings.TrimSuffix(filepath.Base(mat), ".mat"))
			for range 2 { // the second replaces the first
				if code, _, stderr := importCUB(t, python, cubArgs(mat, filepath.Dir(mat), out)...); code != 0 {
					t.Fatalf("exit status %d: %s", code, stderr)
				}
				if got, want := names(t, out), names(t, want); !slices.Equal(got, want) {
					t.Fatalf("wrote %q, want %q", got, want)
				}
				for _, name := range names(t, want) {
					got, want := read(t, out, name), read(t, want, name)
					if name == "meta.json" {
						want = strings.Replace(want, `"0.1.0-dev"`, `"import_cub.py"`, 1)
					}
					if got != want {
						t.Errorf("%s is\n%q, want\n%q", name, got, want)
					}
				}
				if left := names(t, filepath.Dir(out)); len(left) != 1 {
					t.Errorf("left behind: %q", left)
				}
			}
		})
	}
}

// TestImportCUB compares with what testdata/make_cub.py put into the files.
func TestImportCUB(t *testing.T) {
	python := python(t)
	for _, name := range []string{"res101.mat", "plain.mat"} {
		out := filepath.Join(t.TempDir(), "feats")
		code, stdout, stderr := importCUB(t, python, cubArgs(filepath.Join("testdata", name), "testdata", out)...)
		if want := "imported 12 images of 3 classes (9 to train, 3 to test), 8 values each"; code != 0 ||
			!strings.Contains(stdout, want) {
			t.Errorf("exit status %d, does not say %q: %s%s", code, want, stdout, stderr)
		}
		f, err := featdir.Read(out)
		if err != nil || f.X.Rows != testImages || f.X.Cols != testDim {
			t.Fatalf("%s: %d×%d, %v", name, f.X.Rows, f.X.Cols, err)
		}
		for i, got := range f.Samples {
			row := f.X.Data[i*f.X.Stride:][:testDim]
			if want, wantRow := testRow(i); got != want || !slices.Equal(row, wantRow) {
				t.Errorf("%s, column %d: %+v %v, want %+v %v", name, i, got, row, want, wantRow)
			}
		}
		meta := read(t, out, "meta.json")
		for _, word := range []string{`"dataset": "CUB-200-2011"`, `"name": "` + name + `"`, "train_test_split.txt",
			`"sha256": ""`, `"dimension": 8`} {
			if !strings.Contains(meta, word) {
				t.Errorf("meta.json does not hold %q:\n%s", word, meta)
			}
		}
	}
}

func read(t *testing.T, elem ...string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join(elem...)))(t))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
