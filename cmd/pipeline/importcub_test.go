package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
)

const cubTestdata = "../../dataset/cub/testdata"

// TestImportCUB: features of a MAT-file become a feature folder that the other
// commands take.
func TestImportCUB(t *testing.T) {
	l := newLab(t)
	feats := l.path("feats")
	args := []string{"datasets", "import-cub", "--mat", filepath.Join(cubTestdata, "res101.mat"), "--cub", cubTestdata, "--out", feats}
	r := l.must(args...)
	if want := "imported 12 images of 3 classes (9 to train, 3 to test), 8 values each"; !strings.Contains(r.stdout, want) {
		t.Errorf("does not say %q: %s", want, r.stdout)
	}
	rows := l.table(feats, "samples.csv")
	// Column 0 of the file is the fourth image of images.txt, column 2 the sixth.
	if want := []string{"001.Black_footed_Albatross/Black_footed_Albatross_0003_103.jpg", "001.Black_footed_Albatross", "train", ""}; !slices.Equal(rows[1], want) {
		t.Errorf("%q, want %q", rows[1], want)
	}
	if want := []string{"002.Laysan_Albatross/Laysan_Albatross_0001_101.jpg", "002.Laysan_Albatross", "test", ""}; !slices.Equal(rows[3], want) {
		t.Errorf("%q, want %q", rows[3], want)
	}
	f, err := dataset.ReadFeatures(feats)
	if err != nil || f.X.Rows != 12 || f.X.Cols != 8 {
		t.Fatalf("%d×%d, %v", f.X.Rows, f.X.Cols, err)
	}
	if want := []float32{8.75, 0.765625, 0.78125, 0.796875, 0.8125, 0.828125, 0.84375, 0.859375}; !slices.Equal(f.X.Data[:8], want) {
		t.Errorf("first row %v, want %v", f.X.Data[:8], want)
	}
	for _, word := range []string{`"dataset": "CUB-200-2011"`, `"name": "res101.mat"`, "train_test_split.txt", `"sha256": ""`, `"dimension": 8`} {
		if meta := string(l.read(feats, "meta.json")); !strings.Contains(meta, word) {
			t.Errorf("meta.json does not hold %q:\n%s", word, meta)
		}
	}

	before := l.read(feats, "embeddings.npy")
	l.must(args...)
	if !bytes.Equal(before, l.read(feats, "embeddings.npy")) {
		t.Error("a second import gives other bytes")
	}
	l.must("train", "--features", feats, "--classifier", "ncm", "--out", l.path("m"))
	if r := l.must("eval", l.path("m"), "--features", feats); !strings.Contains(r.stdout, "100") {
		t.Errorf("eval: %s", r.stdout)
	}
	l.must("fscil", "--features", feats, "--classifier", "ncm", "--out", l.path("fscil"),
		"--set", "fscil.protocol=few-shot", "--set", "fscil.base_classes=2", "--set", "fscil.ways=1", "--set", "fscil.shots=2")
	results := l.object(l.path("fscil"), "results.json")
	if results["backbone"] != "res101.mat (Xian et al.)" || results["final_accuracy"] != 1.0 {
		t.Errorf("fscil: backbone %v, accuracy %v", results["backbone"], results["final_accuracy"])
	}
}

// TestImportCUBRefusals: wrong use and wrong files; nothing is written.
func TestImportCUBRefusals(t *testing.T) {
	l := &lab{TB: t, dir: t.TempDir()}
	t.Setenv("XDG_CACHE_HOME", l.path("user-cache"))
	mat := func(name string) string { return filepath.Join(cubTestdata, name) }
	l.write(l.path("v73.mat"), append([]byte("MATLAB 7.3 MAT-file, Platform: GLNXA64"), make([]byte, 600)...))
	l.write(l.path("cut.mat"), l.read(mat("res101.mat"))[:400])
	for _, c := range []struct {
		code  int
		words []string
		args  []string
	}{
		{exitUsage, []string{"--mat is missing"}, []string{"--cub", cubTestdata}},
		{exitUsage, []string{"--cub is missing"}, []string{"--mat", mat("res101.mat")}},
		{exitFailed, []string{"images.txt", "CUB_200_2011"}, []string{"--mat", mat("res101.mat"), "--cub", l.dir}},
		{exitFailed, []string{"twice", "twice.mat", "images.txt"}, []string{"--mat", mat("twice.mat"), "--cub", cubTestdata}},
		{exitFailed, []string{"NaN", "not_finite.mat"}, []string{"--mat", mat("not_finite.mat"), "--cub", cubTestdata}},
		{exitFailed, []string{"7.3", "-v7"}, []string{"--mat", l.path("v73.mat"), "--cub", cubTestdata}},
		{exitFailed, []string{"truncated"}, []string{"--mat", l.path("cut.mat"), "--cub", cubTestdata}},
	} {
		l.refused(c.code, c.words, append(append([]string{"datasets", "import-cub"}, c.args...), "--out", l.path("feats"))...)
		if l.exists(l.path("feats")) {
			t.Fatalf("%q wrote something", c.args)
		}
	}
	l.refused(exitUsage, []string{"--out is missing"}, "datasets", "import-cub", "--mat", mat("res101.mat"), "--cub", cubTestdata)
	l.write(l.path("photos", "x.jpg"), nil)
	l.refused(exitFailed, []string{"x.jpg"}, "datasets", "import-cub", "--mat", mat("res101.mat"), "--cub", cubTestdata, "--out", l.path("photos"))
}
