package embedding_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
)

func set(cols int, rows map[string][]float32, order ...string) embedding.Embeddings {
	f := embedding.Embeddings{X: blas32.General{Rows: len(order), Cols: cols, Stride: cols}}
	for _, path := range order {
		f.Samples = append(f.Samples, dataset.Sample{Path: path})
		f.X.Data = append(f.X.Data, rows[path]...)
	}
	return f
}

func TestAgree(t *testing.T) {
	a := set(2, map[string][]float32{"a": {1, 0}, "b": {2, 2}, "c": {0, 3}}, "a", "b", "c")
	b := set(2, map[string][]float32{"a": {1, 1}, "b": {1, 1}, "c": {0, -1}}, "c", "a", "b")
	got, err := embedding.Agree(a, b)
	if err != nil || got.Files != 3 || got.Worst != "c" || got.Min != -1 ||
		math.Abs(got.Median-math.Sqrt(0.5)) > 1e-12 {
		t.Fatal(got, err)
	}
}

func TestAgreeSeesZeroRows(t *testing.T) {
	a := set(2, map[string][]float32{"a": {1, 0}, "b": {0, 0}}, "a", "b")
	if got, err := embedding.Agree(a, a); err == nil {
		t.Fatalf("a row of zeros has no direction, but: %+v", got)
	}
}

func TestAgreeNeedsTheSameFiles(t *testing.T) {
	rows := map[string][]float32{"a": {1, 0}, "b": {1, 1}}
	for name, pair := range map[string][2]embedding.Embeddings{
		"none":       {set(2, rows), set(2, rows)},
		"fewer":      {set(2, rows, "a", "b"), set(2, rows, "a")},
		"other":      {set(2, rows, "a"), set(2, rows, "b")},
		"duplicates": {set(2, rows, "a", "a"), set(2, rows, "a", "b")},
	} {
		if got, err := embedding.Agree(pair[0], pair[1]); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
