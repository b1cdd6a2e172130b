package embedding

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// cropViews is the number of crops of each probe picture.
const cropViews = 2

// Crops returns the mean cosine of two crops of one probe picture, and of crops of two.
// The first is larger for any output that describes what a picture shows.
func (e *Embedder) Crops(ctx context.Context) (same, other float64, err error) {
	names := probeNames()
	x := dense.New32(len(names)*cropViews, e.Dim())
	for i, name := range names {
		file, err := probeFiles.ReadFile("probes/" + name)
		if err != nil {
			return 0, 0, err
		}
		for v := range cropViews {
			pixels := make([]float32, 3*e.spec.Side()*e.spec.Side())
			if err := e.pre.View(v+1).Tensor(ctx, pixels, file); err != nil {
				return 0, 0, err
			}
			row := dense.Row32(x, i*cropViews+v)
			one := blas32.General{Rows: 1, Cols: x.Cols, Stride: x.Cols, Data: row}
			if err := e.extractor.Extract(one, pixels); err != nil {
				return 0, 0, err
			}
		}
	}
	var pairs, others int
	for i := range x.Rows {
		for j := range i {
			c := cosineOf(dense.Row32(x, i), dense.Row32(x, j))
			if i/cropViews == j/cropViews {
				same, pairs = same+c, pairs+1
			} else {
				other, others = other+c, others+1
			}
		}
	}
	return same / float64(pairs), other / float64(others), nil
}
