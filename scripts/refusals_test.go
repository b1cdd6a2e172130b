package scripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// refused runs the script, which must fail with one sentence that has these
// words and write nothing.
func refused(t *testing.T, python, mat, cub string, words ...string) string {
	t.Helper()
	dir := t.TempDir()
	code, stdout, stderr := importCUB(t, python, cubArgs(mat, cub, filepath.Join(dir, "feats"))...)
	if code != 1 || stdout != "" || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit status %d, says %s%s", code, stdout, stderr)
	}
	for _, word := range append(words, "import_cub: ") {
		if !strings.Contains(stderr, word) {
			t.Errorf("does not say %q: %s", word, stderr)
		}
	}
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("wrote %q", left)
	}
	return stderr
}

// TestWrongFeatures: what contradicts the lists is an error that names the image
// and both files.
func TestWrongFeatures(t *testing.T) {
	python := python(t)
	list := filepath.Join("testdata", "images.txt")
	image := testImage((7*5 + 3) % testImages) // column 6
	damaged := t.TempDir()
	v73 := "MATLAB 7.3 MAT-file, Platform: GLNXA64" + strings.Repeat(" ", 86) + "\x00\x02IM" +
		strings.Repeat("\x00", 600)
	write(t, filepath.Join(damaged, "v73.mat"), v73)
	write(t, filepath.Join(damaged, "cut.mat"), read(t, "testdata", "res101.mat")[:400])
	for mat, words := range map[string][]string{
		"testdata/twice.mat":              {testImage((7*2 + 3) % testImages), "twice", "3 and 6", list},
		"testdata/strange.mat":            {"image 6", "001.Black_footed_Albatross/no_such.jpg", list},
		"testdata/no_folder.mat":          {"image 6", "one.jpg", list},
		"testdata/wrong_label.mat":        {"image 6", image, "label 7", list},
		"testdata/eleven.mat":             {testImage((7*11 + 3) % testImages), "missing", "1 of 12", list},
		"testdata/not_finite.mat":         {image, "value 3 is nan"},
		"testdata/too_large.mat":          {image, "value 3 is 1e+39"},
		"testdata/no_labels.mat":          {"no variable labels"},
		"testdata/few_labels.mat":         {"labels", "(11, 1)", "12 columns"},
		"testdata/few_features.mat":       {"labels", "(12, 1)", "11 columns"},
		"testdata/few_files.mat":          {"image_files", "(11, 1)", "12 columns"},
		"testdata/text_labels.mat":        {"labels", "type <U12"},
		"testdata/number_files.mat":       {"image_files", "cell 6", "float64"},
		"testdata/complex_features.mat":   {"features", "real"},
		"testdata/make_cub.py":            {"not a MAT-file"},
		"testdata/nowhere.mat":            {"no such file"},
		filepath.Join(damaged, "v73.mat"): {"7.3", "-v7"},
		filepath.Join(damaged, "cut.mat"): {"truncated"},
	} {
		t.Run(filepath.Base(mat), func(t *testing.T) {
			t.Parallel()
			stderr := refused(t, python, mat, "testdata", append(words, mat)...)
			if strings.Count(stderr, mat) > 1 {
				t.Errorf("repeats its name: %s", stderr)
			}
		})
	}
}

// TestWrongLists: every line that does not fit is named.
func TestWrongLists(t *testing.T) {
	python := python(t)
	images, split := read(t, "testdata", "images.txt"), read(t, "testdata", "train_test_split.txt")
	for name, c := range map[string]struct {
		images, split string
		words         []string
	}{
		"as they are":   {images, split, nil},
		"Windows lines": {strings.ReplaceAll(images, "\n", "\r\n"), strings.ReplaceAll(split, "\n", "\r\n"), nil},
		"another order": {images, strings.TrimPrefix(split, "1 1\n") + "1 1\n", nil},
		"no split": {images, strings.Replace(split, "4 1\n", "", 1),
			[]string{testImage(3), "number 4", "images.txt", "train_test_split.txt"}},
		"no image": {strings.Replace(images, "4 "+testImage(3)+"\n", "", 1), split,
			[]string{"line 4", "number 4", "images.txt", "train_test_split.txt"}},
		"image twice": {strings.Replace(images, testImage(3), testImage(2), 1), split,
			[]string{"images.txt", "line 4", testImage(2), "twice"}},
		"number twice": {strings.Replace(images, "4 001", "3 001", 1), split,
			[]string{"images.txt", "line 4", "number 3", "twice"}},
		"split twice": {images, split + "4 0\n",
			[]string{"train_test_split.txt", "line 13", "number 4", "twice"}},
		"split 2": {images, strings.Replace(split, "4 1", "4 2", 1),
			[]string{"train_test_split.txt", "line 4", `"4 2"`}},
		"no number": {images, strings.Replace(split, "4 1", "four 1", 1), []string{"line 4", "four 1"}},
		"number 0":  {images, strings.Replace(split, "4 1", "0 1", 1), []string{"line 4", "0 1"}},
		"no value":  {images, strings.Replace(split, "4 1", "4", 1), []string{"line 4", `"4"`}},
		"path of one": {strings.Replace(images, "001.Black_footed_Albatross/Black_footed_Albatross_0003", "x", 1),
			split, []string{"images.txt", "line 4"}},
		"path of three": {strings.Replace(images, testImage(3), "images/"+testImage(3), 1), split,
			[]string{"images.txt", "line 4"}},
		"way out": {strings.Replace(images, testImage(3), "../x.jpg", 1), split,
			[]string{"images.txt", "line 4"}},
		"class of no bird": {strings.Replace(images, testImage(3), "albatross/x.jpg", 1), split,
			[]string{"images.txt", "line 4", "albatross/x.jpg"}},
		"no lines":         {images, "", []string{"train_test_split.txt", "empty"}},
		"a very long line": {images + strings.Repeat("x", 1<<17), split, []string{"images.txt", "line 13"}},
		"a thirteenth": {images + "13 010.Red_winged_Blackbird/x.jpg\n", split + "13 1\n",
			[]string{"010.Red_winged_Blackbird/x.jpg", "missing", "res101.mat", "images.txt"}},
		"one that it lacks": {strings.Replace(images, "4 "+testImage(3)+"\n", "", 1),
			strings.Replace(split, "4 1\n", "", 1), []string{testImage(3), "res101.mat", "images.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "images.txt"), c.images)
			write(t, filepath.Join(dir, "train_test_split.txt"), c.split)
			if c.words != nil {
				refused(t, python, "testdata/res101.mat", dir, c.words...)
				return
			}
			out := filepath.Join(dir, "feats")
			if code, _, stderr := importCUB(t, python, cubArgs("testdata/res101.mat", dir, out)...); code != 0 {
				t.Fatalf("exit status %d: %s", code, stderr)
			}
			for _, name := range []string{"embeddings.npy", "samples.csv"} {
				if read(t, out, name) != read(t, "testdata", "want", "res101", name) {
					t.Errorf("%s is not that of the lists as they are", name)
				}
			}
		})
	}
}

func TestListsThatAreNone(t *testing.T) {
	python := python(t)
	dir := t.TempDir()
	check := func(words ...string) { refused(t, python, "testdata/res101.mat", dir, words...) }
	check(filepath.Join(dir, "images.txt"), "CUB_200_2011")
	write(t, filepath.Join(dir, "images.txt"), read(t, "testdata", "images.txt"))
	check(filepath.Join(dir, "train_test_split.txt"), "CUB_200_2011")
	must.Do(t, os.Mkdir(filepath.Join(dir, "train_test_split.txt"), 0o700))
	check("not a regular file")
}

// TestWrongUse: missing flags, and folders that must not be replaced.
func TestWrongUse(t *testing.T) {
	python := python(t)
	dir := t.TempDir()
	all := cubArgs("testdata/res101.mat", "testdata", filepath.Join(dir, "feats"))
	for i := 0; i < len(all); i += 2 {
		args := append(append([]string{}, all[:i]...), all[i+2:]...)
		if code, _, stderr := importCUB(t, python, args...); code != 2 ||
			!strings.Contains(stderr, "required: "+all[i]) {
			t.Errorf("without %s: exit status %d, %s", all[i], code, stderr)
		}
	}
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("wrote %q", left)
	}
	photo := filepath.Join(dir, "x.jpg")
	write(t, photo, "a photo")
	for out, word := range map[string]string{dir: "x.jpg", photo: "x.jpg",
		filepath.Join(dir, "no", "feats"): "No such file"} {
		code, _, stderr := importCUB(t, python, cubArgs("testdata/res101.mat", "testdata", out)...)
		if code != 1 || !strings.Contains(stderr, word) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("--out %s: exit status %d, %s", out, code, stderr)
		}
	}
	if left := names(t, dir); len(left) != 1 || read(t, photo) != "a photo" {
		t.Errorf("%q are left of x.jpg", left)
	}
}
