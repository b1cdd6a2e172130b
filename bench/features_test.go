package bench_test

import (
	"math"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/bench"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
	"github.com/seed-90d10d51/pipeline/internal/shared"
)

// TestFeaturesAgainstPython compares features with those of Pillow and
// onnxruntime in testdata, made by testdata.sh. From JPEG files the inverse
// DCTs differ by rounding; from the same pixels nothing may differ.
func TestFeaturesAgainstPython(t *testing.T) {
	for _, m := range backbones {
		t.Run(m.label+"/photos", func(t *testing.T) {
			testAgreement(t, m, "photos", shared.Path(t, "data", "caltech101_10"), 0.9995, 0.996)
		})
		t.Run(m.label+"/pixels", func(t *testing.T) {
			testAgreement(t, m, "pixels", filepath.Join("..", "preprocess", "testdata", "images"), 0.99999, 0.99999)
		})
	}
}

func testAgreement(t *testing.T, m backbone, set, root string, medianWanted, minWanted float64) {
	python, err := featdir.Read(filepath.Join("testdata", m.file, set))
	if err != nil {
		t.Fatal(err)
	}
	ours := newRig(t, m).embed(t, root, python.Samples)
	got, err := bench.Agree(python, ours)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files: median cosine %.7f, minimum %.7f (%s)", got.Files, got.Median, got.Min, got.Worst)
	if !(got.Median >= medianWanted && got.Min >= minWanted) {
		t.Errorf("want a median of at least %g and a minimum of at least %g", medianWanted, minWanted)
	}
}

func set(cols int, rows map[string][]float32, order ...string) embed.Embeddings {
	f := embed.Embeddings{X: blas32.General{Rows: len(order), Cols: cols, Stride: cols}}
	for _, path := range order {
		f.Samples = append(f.Samples, dataset.Sample{Path: path})
		f.X.Data = append(f.X.Data, rows[path]...)
	}
	return f
}

func TestAgree(t *testing.T) {
	a := set(2, map[string][]float32{"a": {1, 0}, "b": {2, 2}, "c": {0, 3}}, "a", "b", "c")
	b := set(2, map[string][]float32{"a": {1, 1}, "b": {1, 1}, "c": {0, -1}}, "c", "a", "b")
	got, err := bench.Agree(a, b)
	if err != nil || got.Files != 3 || got.Worst != "c" || got.Min != -1 ||
		math.Abs(got.Median-math.Sqrt(0.5)) > 1e-12 {
		t.Fatal(got, err)
	}
}

func TestAgreeSeesZeroRows(t *testing.T) {
	a := set(2, map[string][]float32{"a": {1, 0}, "b": {0, 0}}, "a", "b")
	if got, err := bench.Agree(a, a); err == nil {
		t.Fatalf("a row of zeros has no direction, but: %+v", got)
	}
}

func TestAgreeNeedsTheSameFiles(t *testing.T) {
	rows := map[string][]float32{"a": {1, 0}, "b": {1, 1}}
	for name, pair := range map[string][2]embed.Embeddings{
		"none":       {set(2, rows), set(2, rows)},
		"fewer":      {set(2, rows, "a", "b"), set(2, rows, "a")},
		"other":      {set(2, rows, "a"), set(2, rows, "b")},
		"duplicates": {set(2, rows, "a", "a"), set(2, rows, "a", "b")},
	} {
		if got, err := bench.Agree(pair[0], pair[1]); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
