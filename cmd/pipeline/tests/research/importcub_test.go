package research

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
)

// TestImportedCUB: the other commands take the feature folder that
// scripts/import_cub.py writes; a test of the script compares it with this one.
func TestImportedCUB(t *testing.T) {
	l := commandtest.New(t)
	feats := "../../../../scripts/testdata/want/res101"
	rows := l.Table(feats, "samples.csv")
	// commandtest.Column 0 of the file is the fourth image of images.txt, column 2 the sixth.
	if want := []string{"001.Black_footed_Albatross/Black_footed_Albatross_0003_103.jpg", "001.Black_footed_Albatross",
		"train", ""}; !slices.Equal(rows[1], want) {
		t.Errorf("%q, want %q", rows[1], want)
	}
	if want := []string{"002.Laysan_Albatross/Laysan_Albatross_0001_101.jpg", "002.Laysan_Albatross", "test",
		""}; !slices.Equal(rows[3], want) {
		t.Errorf("%q, want %q", rows[3], want)
	}
	f, err := featdir.Read(feats)
	if err != nil || f.X.Rows != 12 || f.X.Cols != 8 {
		t.Fatalf("%d×%d, %v", f.X.Rows, f.X.Cols, err)
	}
	if want := []float32{8.75, 0.765625, 0.78125, 0.796875, 0.8125, 0.828125, 0.84375,
		0.859375}; !slices.Equal(f.X.Data[:8], want) {
		t.Errorf("first row %v, want %v", f.X.Data[:8], want)
	}
	l.Must("train", "--features", feats, "--classifier", "ncm", "--out", l.Path("m"))
	if r := l.Must("eval", l.Path("m"), "--features", feats); !strings.Contains(r.Stdout, "100") {
		t.Errorf("eval: %s", r.Stdout)
	}
	l.Must("fscil", "--features", feats, "--classifier", "ncm", "--out", l.Path("fscil"),
		"--set", "fscil.protocol=few-shot", "--set", "fscil.base_classes=2", "--set", "fscil.ways=1", "--set",
		"fscil.shots=2")
	results := l.Object(l.Path("fscil"), "results.json")
	if results["backbone"] != "res101.mat (Xian et al.)" || results["final_accuracy"] != 1.0 {
		t.Errorf("fscil: backbone %v, accuracy %v", results["backbone"], results["final_accuracy"])
	}
}
