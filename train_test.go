package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// features writes embeddings of two classes and returns their folder.
func features(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "features")
	w := must.Get(featdir.NewWriter(dir, embedding.Provenance{Dim: 2}))(t)
	defer w.Abort()
	for i, row := range [][]float32{{1, .1}, {1, .2}, {.1, 1}, {.3, 1}} {
		class := []string{"cat", "dog"}[i/2]
		sample := dataset.Sample{Path: fmt.Sprintf("%s/%d.jpg", class, i), Label: class}
		must.Do(t, w.Write(sample, row))
	}
	must.Do(t, w.Close())
	return dir
}

// TestFailedSaveKeepsTrainings: what took long to train stays until the model is written.
func TestFailedSaveKeepsTrainings(t *testing.T) {
	ctx, file := t.Context(), filepath.Join(t.TempDir(), "a.model")
	p := must.Get(pipeline.Open(ctx))(t)
	from := pipeline.Features(features(t))
	must.Get2(p.Train(ctx, from, pipeline.Method("ncm"), pipeline.Into(file)))(t)
	trained := filepath.Join(file+".dkl", "compared", "part")
	write(t, trained, []byte("days of work"))
	// No file can have this name now, so the model cannot be written.
	must.Do(t, os.MkdirAll(filepath.Join(file+".prev", "in the way"), 0o755))
	if _, _, err := p.Train(ctx, from, pipeline.Method("plda"), pipeline.Into(file)); err == nil {
		t.Fatal("the model was saved")
	}
	if _, err := os.Stat(trained); err != nil {
		t.Error("the training is gone, and there is no model of it:", err)
	}
}
