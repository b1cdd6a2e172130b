package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
)

// features writes embeddings of two classes and returns their folder.
func features(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "features")
	w, err := featdir.NewWriter(dir, embed.Provenance{Dim: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for i, row := range [][]float32{{1, .1}, {1, .2}, {.1, 1}, {.3, 1}} {
		class := []string{"cat", "dog"}[i/2]
		sample := dataset.Sample{Path: fmt.Sprintf("%s/%d.jpg", class, i), Label: class}
		if err := w.Write(sample, row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestFailedSaveKeepsTrainings: what took long to train stays until the model is written.
func TestFailedSaveKeepsTrainings(t *testing.T) {
	ctx, file := t.Context(), filepath.Join(t.TempDir(), "a.model")
	p, err := pipeline.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	from := pipeline.Features(features(t))
	if _, _, err := p.Train(ctx, from, pipeline.Method("ncm"), pipeline.Into(file)); err != nil {
		t.Fatal(err)
	}
	trained := filepath.Join(file+".dkl", "compared", "part")
	write(t, trained, []byte("days of work"))
	// No file can have this name now, so the model cannot be written.
	if err := os.MkdirAll(filepath.Join(file+".prev", "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Train(ctx, from, pipeline.Method("plda"), pipeline.Into(file)); err == nil {
		t.Fatal("the model was saved")
	}
	if _, err := os.Stat(trained); err != nil {
		t.Error("the training is gone, and there is no model of it:", err)
	}
}
