package embedding

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// An Agreement measures how similar two sets of features of the same files are.
type Agreement struct {
	// Files is the number of files, all of which are in both sets.
	Files int
	// Median and Min are taken over the cosines between a file's two
	// embeddings.
	Median, Min float64
	// Worst is the path of the file with the smallest cosine.
	Worst string
}

// Agree compares features of the same files, in any order. Each path must occur
// once in each set.
func Agree(a, b Embeddings) (Agreement, error) {
	if a.X.Cols != b.X.Cols || a.X.Rows != b.X.Rows || a.X.Rows == 0 {
		return Agreement{}, fmt.Errorf("compare features: %d×%d and %d×%d: need the same files and dimension", a.X.Rows,
			a.X.Cols, b.X.Rows, b.X.Cols)
	}
	unmatched := make(map[string]int, b.X.Rows)
	for i, s := range b.Samples {
		unmatched[s.Path] = i
	}
	result := Agreement{Files: a.X.Rows, Min: math.Inf(1)}
	cosines := make([]float64, 0, a.X.Rows)
	for i, s := range a.Samples {
		j, ok := unmatched[s.Path]
		if !ok {
			return Agreement{}, fmt.Errorf("compare features: %s: must occur exactly once in each set", s.Path)
		}
		delete(unmatched, s.Path)
		c := cosineOf(dense.Row32(a.X, i), dense.Row32(b.X, j))
		if math.IsNaN(c) {
			return Agreement{}, fmt.Errorf("compare features: %s: the embedding is zero or not finite", s.Path)
		}
		cosines = append(cosines, c)
		if c < result.Min {
			result.Min, result.Worst = c, s.Path
		}
	}
	result.Median = median(cosines)
	return result, nil
}

// median returns the median of at least one value; it sorts them.
func median(v []float64) float64 {
	slices.Sort(v)
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}
