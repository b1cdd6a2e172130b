package bench_test

import (
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
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
	python := must.Get(featdir.Read(filepath.Join("testdata", m.file, set)))(t)
	ours := newRig(t, m).embed(t, root, python.Samples)
	got := must.Get(embedding.Agree(python, ours))(t)
	t.Logf("%d files: median cosine %.7f, minimum %.7f (%s)", got.Files, got.Median, got.Min, got.Worst)
	if !(got.Median >= medianWanted && got.Min >= minWanted) {
		t.Errorf("want a median of at least %g and a minimum of at least %g", medianWanted, minWanted)
	}
}
