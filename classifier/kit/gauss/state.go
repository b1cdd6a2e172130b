package gauss

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// Tensors returns a copy of the space as named arrays: "origin" (d), those of
// the whitening, "directions" (r×d) and "beta" (r). Rest and Certain are not included.
func (sp *Space) Tensors() map[string]classifier.Tensor {
	d, r := sp.Dim(), len(sp.Beta)
	tensors := map[string]classifier.Tensor{
		"origin":     copied(sp.Origin, d),
		"directions": copied(sp.Directions.Data, r, d),
		"beta":       copied(sp.Beta, r),
	}
	sp.Whiten.save(tensors)
	return tensors
}

func copied(values []float64, shape ...int) classifier.Tensor {
	return classifier.Tensor{Shape: shape, F64: append([]float64{}, values...)}
}

// loadSpace restores what Tensors returned, with d values per example and r
// directions.
func loadSpace(s classifier.State, d, r int, rest float64) (*Space, error) {
	if d < 1 || r < 0 || r > d || !isVariance(rest) {
		return nil, fmt.Errorf("dimension %d, rank %d, remaining variance %g", d, r, rest)
	}
	whiten, err := loadWhitening(s, d)
	if err != nil {
		return nil, err
	}
	sp := &Space{Rest: rest, Whiten: whiten}
	for _, t := range []struct {
		name  string
		shape []int
		dst   *[]float64
	}{{"origin", []int{d}, &sp.Origin}, {"beta", []int{r}, &sp.Beta},
		{"directions", []int{r, d}, &sp.Directions.Data}} {
		if *t.dst, err = s.Float64(t.name, t.shape...); err != nil {
			return nil, err
		}
	}
	for _, b := range sp.Beta {
		if !isVariance(b) {
			return nil, fmt.Errorf("tensor beta: %g is not a variance", b)
		}
	}
	sp.Directions = blas64.General{Rows: r, Cols: d, Stride: d, Data: sp.Directions.Data}
	return sp, nil
}

// checkGuessed returns an error unless a saved share is one.
func checkGuessed(share float64) error {
	if !(share >= 0 && share <= 1) {
		return fmt.Errorf("the guessed share of the space is %g, outside 0 … 1", share)
	}
	return nil
}

func isVariance(v float64) bool { return v > 0 && v < 1e100 }
