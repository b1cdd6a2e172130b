package naming

import (
	"math"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// doubted returns the names that do worse than chance on the examples of their classes.
func doubted(sessions []episodes.Episode, w *gauss.Words) []string {
	n := len(w.Names)
	if n < 2 {
		return nil
	}
	var scores [][]float64
	var own []int
	var likelihood temperature.Likelihood
	for _, s := range sessions {
		for i, y := range s.Y {
			if c, ok := slices.BinarySearch(w.Names, y); ok {
				scores, own = append(scores, w.Cosines(dense.Row32(s.X, i))), append(own, c)
				likelihood.Add(scores[len(scores)-1], c)
			}
		}
	}
	T := likelihood.Minimum().T
	gain, seen := make([]float64, n), make([]bool, n)
	for i, row := range scores {
		for c := range row {
			row[c] /= T
		}
		classifier.LogSoftmax(row)
		gain[own[i]] += row[own[i]] + math.Log(float64(n))
		seen[own[i]] = true
	}
	var out []string
	for c, name := range w.Names {
		if seen[c] && gain[c] < 0 {
			out = append(out, name)
		}
	}
	return out
}
