package cub

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
)

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

func TestJoin(t *testing.T) {
	for _, name := range []string{"res101.mat", "plain.mat"} {
		s, err := Open(filepath.Join("testdata", name), "testdata")
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if s.Dim != testDim || len(s.Samples) != testImages {
			t.Fatalf("%s: %d images of size %d", name, len(s.Samples), s.Dim)
		}
		for range 2 { // it can be read again
			i := 0
			err := s.Each(func(got dataset.Sample, row []float32) error {
				want, wantRow := testRow(i)
				if got != want || got != s.Samples[i] || !slices.Equal(row, wantRow) {
					t.Errorf("%s, column %d: %+v %v, want %+v %v", name, i, got, row, want, wantRow)
				}
				i++
				return nil
			})
			if err != nil || i != testImages {
				t.Errorf("%s: %d rows, %v", name, i, err)
			}
		}
		stop := errors.New("stop")
		if err := s.Each(func(dataset.Sample, []float32) error { return stop }); err != stop {
			t.Errorf("error of emit: %v", err)
		}
		o, err := s.Origin()
		if err != nil || o.Features.Name != name || len(o.Features.SHA256) != 64 || len(o.Lists) != 2 || o.Lists[1].Name != "train_test_split.txt" {
			t.Errorf("%+v, %v", o, err)
		}
	}
}

// TestWrongFeatures: what contradicts the lists is an error that names the image
// and both files.
func TestWrongFeatures(t *testing.T) {
	list := filepath.Join("testdata", "images.txt")
	image := testImage((7*5 + 3) % testImages) // column 6
	for name, words := range map[string][]string{
		"twice.mat":            {testImage((7*2 + 3) % testImages), "twice", "3 and 6", list},
		"strange.mat":          {"image 6", "001.Black_footed_Albatross/no_such.jpg", list},
		"no_folder.mat":        {"image 6", "one.jpg", list},
		"wrong_label.mat":      {"image 6", image, "label 7", list},
		"eleven.mat":           {testImage((7*11 + 3) % testImages), "missing", "1 of 12", list},
		"not_finite.mat":       {image, "value 3 is NaN"},
		"too_large.mat":        {image, "value 3 is 1e+39"},
		"no_labels.mat":        {"no variable labels"},
		"few_labels.mat":       {"labels", "[11 1]", "12 columns"},
		"few_features.mat":     {"labels", "[12 1]", "11 columns"},
		"few_files.mat":        {"image_files", "[11 1]", "12 columns"},
		"text_labels.mat":      {"labels", "class char"},
		"number_files.mat":     {"image_files", "cell 6", "double"},
		"complex_features.mat": {"features", "real"},
		"make_cub.py":          {"not a MAT-file"},
		"nowhere.mat":          {"no such file"},
	} {
		mat := filepath.Join("testdata", name)
		err := readAll(mat, "testdata")
		for _, word := range append(words, mat, "import CUB: ") {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%s does not say %q: %v", name, word, err)
			}
		}
		if err != nil && strings.Count(err.Error(), mat) > 1 {
			t.Errorf("%s: says its name twice: %v", name, err)
		}
	}
}

func readAll(mat, dir string) error {
	s, err := Open(mat, dir)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Each(func(dataset.Sample, []float32) error { return nil })
}

// TestWrongLists: every line that does not fit is named.
func TestWrongLists(t *testing.T) {
	images, split := readTest(t, "images.txt"), readTest(t, "train_test_split.txt")
	for name, c := range map[string]struct {
		images, split string
		words         []string
	}{
		"as they are":       {images, split, nil},
		"Windows lines":     {strings.ReplaceAll(images, "\n", "\r\n"), strings.ReplaceAll(split, "\n", "\r\n"), nil},
		"another order":     {images, strings.TrimPrefix(split, "1 1\n") + "1 1\n", nil},
		"no split":          {images, strings.Replace(split, "4 1\n", "", 1), []string{testImage(3), "number 4", "images.txt", "train_test_split.txt"}},
		"no image":          {strings.Replace(images, "4 "+testImage(3)+"\n", "", 1), split, []string{"line 4", "number 4", "images.txt", "train_test_split.txt"}},
		"image twice":       {strings.Replace(images, testImage(3), testImage(2), 1), split, []string{"images.txt", "line 4", testImage(2), "twice"}},
		"number twice":      {strings.Replace(images, "4 001", "3 001", 1), split, []string{"images.txt", "line 4", "number 3", "twice"}},
		"split twice":       {images, split + "4 0\n", []string{"train_test_split.txt", "line 13", "number 4", "twice"}},
		"split 2":           {images, strings.Replace(split, "4 1", "4 2", 1), []string{"train_test_split.txt", "line 4", `"2"`}},
		"no number":         {images, strings.Replace(split, "4 1", "four 1", 1), []string{"line 4", "four 1"}},
		"number 0":          {images, strings.Replace(split, "4 1", "0 1", 1), []string{"line 4", "0 1"}},
		"no value":          {images, strings.Replace(split, "4 1", "4", 1), []string{"line 4", `""`}},
		"path of one":       {strings.Replace(images, "001.Black_footed_Albatross/Black_footed_Albatross_0003", "x", 1), split, []string{"images.txt", "line 4"}},
		"path of three":     {strings.Replace(images, testImage(3), "images/"+testImage(3), 1), split, []string{"images.txt", "line 4"}},
		"way out":           {strings.Replace(images, testImage(3), "../x.jpg", 1), split, []string{"images.txt", "line 4"}},
		"class of no bird":  {strings.Replace(images, testImage(3), "albatross/x.jpg", 1), split, []string{"images.txt", "line 4", "albatross/x.jpg"}},
		"no lines":          {images, "", []string{"train_test_split.txt", "empty"}},
		"a very long line":  {images + strings.Repeat("x", 1<<17), split, []string{"images.txt", "line 13"}},
		"a thirteenth":      {images + "13 010.Red_winged_Blackbird/x.jpg\n", split + "13 1\n", []string{"010.Red_winged_Blackbird/x.jpg", "missing", "res101.mat", "images.txt"}},
		"one that it lacks": {strings.Replace(images, "4 "+testImage(3)+"\n", "", 1), strings.Replace(split, "4 1\n", "", 1), []string{testImage(3), "res101.mat", "images.txt"}},
	} {
		dir := t.TempDir()
		writeTest(t, filepath.Join(dir, "images.txt"), c.images)
		writeTest(t, filepath.Join(dir, "train_test_split.txt"), c.split)
		err := readAll(filepath.Join("testdata", "res101.mat"), dir)
		if (err == nil) != (c.words == nil) {
			t.Errorf("%s: %v", name, err)
		}
		for _, word := range c.words {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%s does not say %q: %v", name, word, err)
			}
		}
	}
}

func TestListsThatAreNone(t *testing.T) {
	dir := t.TempDir()
	check := func(words ...string) {
		t.Helper()
		err := readAll(filepath.Join("testdata", "res101.mat"), dir)
		for _, word := range words {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("does not say %q: %v", word, err)
			}
		}
	}
	check(filepath.Join(dir, "images.txt"), "CUB_200_2011")
	writeTest(t, filepath.Join(dir, "images.txt"), readTest(t, "images.txt"))
	check(filepath.Join(dir, "train_test_split.txt"), "CUB_200_2011")
	if err := os.Mkdir(filepath.Join(dir, "train_test_split.txt"), 0o700); err != nil {
		t.Fatal(err)
	}
	check("not a regular file")
}

func readTest(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func writeTest(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
