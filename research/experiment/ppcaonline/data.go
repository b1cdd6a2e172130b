package ppcaonline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
)

// A world holds everything drawn from one seed. Examples are grouped by class.
type world struct {
	train, validation, test [][][]float64
	// order is the order of independent examples: positions in the training
	// data, class by class.
	order []int
	start engine.Params
}

// draws bounds the points drawn to find enough of every class, centroidTries
// the centroids tried.
const (
	drawsPerExample = 2000
	centroidTries   = 30
)

// draw makes the world of a run. It redraws the centroids if one of their cells
// is too small to fill.
func (c Config) draw(seed uint64, run int) (*world, error) {
	rng := random.Stream(seed, "experiment/ppcaonline/model", run)
	truth, err := c.truth(rng)
	if err != nil {
		return nil, err
	}
	points := random.Stream(seed, "experiment/ppcaonline/points", run)
	for range centroidTries {
		w := &world{}
		if c.fill(w, truth, c.centroids(truth, rng), points) {
			w.order = random.Stream(seed, "experiment/ppcaonline/order", run).Perm(len(w.train) * len(w.train[0]))
			w.start = c.start(random.Stream(seed, "experiment/ppcaonline/start", run))
			return w, nil
		}
	}
	return nil, fmt.Errorf("run %d: none of %d draws of centroids gives %d classes of %d examples: use fewer "+
		"classes or less noise", run+1, centroidTries, c.Classes, c.Train/c.Classes)
}

func (c Config) truth(rng *rand.Rand) (engine.Params, error) {
	r := mat.NewDense(c.D, c.Q, nil)
	r.Apply(func(int, int, float64) float64 { return rng.Float64() - 0.5 }, r)
	var svd mat.SVD
	if !svd.Factorize(r, mat.SVDThin) {
		return engine.Params{}, fmt.Errorf("draw W: the decomposition did not converge")
	}
	var u mat.Dense
	svd.UTo(&u)
	sigma := 0.0
	for sigma < 1e-3 { // (0, 1) is open
		sigma = rng.Float64()
	}
	p := engine.Params{Mean: make([]float64, c.D), W: dense.New(c.D, c.Q), Sigma2: sigma * sigma}
	for i := range c.D {
		mat.Row(dense.Row(p.W, i), i, &u)
	}
	return p, nil
}

func (c Config) start(rng *rand.Rand) engine.Params {
	p := engine.Params{Mean: make([]float64, c.D), W: dense.New(c.D, c.Q), Sigma2: 1}
	for i := range p.Mean {
		p.Mean[i] = rng.Float64() - 0.5
	}
	for i := range p.W.Data {
		p.W.Data[i] = rng.Float64() - 0.5
	}
	return p
}

// point draws x = Wz + ε.
func point(p engine.Params, rng *rand.Rand) []float64 {
	x := make([]float64, len(p.Mean))
	z := make([]float64, p.W.Cols)
	for j := range z {
		z[j] = rng.NormFloat64()
	}
	for i := range x {
		x[i] = math.Sqrt(p.Sigma2) * rng.NormFloat64()
	}
	for i := range x {
		x[i] += dense.Dot(dense.Row(p.W, i), z)
	}
	return x
}

// centroids returns random points with noise added.
func (c Config) centroids(truth engine.Params, rng *rand.Rand) [][]float64 {
	out := make([][]float64, c.Classes)
	for k := range out {
		out[k] = point(truth, rng)
		for i := range out[k] {
			out[k][i] += c.CentroidNoise * rng.NormFloat64()
		}
	}
	return out
}

// fill draws points until every class has its training, validation and test
// examples, and reports whether it succeeded.
func (c Config) fill(w *world, truth engine.Params, centroids [][]float64, rng *rand.Rand) bool {
	sizes := []int{c.Train / c.Classes, c.Test / c.Classes, c.Test / c.Classes}
	parts := []*[][][]float64{&w.train, &w.validation, &w.test}
	for _, p := range parts {
		*p = make([][][]float64, c.Classes)
	}
	missing := c.Classes * (sizes[0] + sizes[1] + sizes[2])
	for range drawsPerExample * (sizes[0] + sizes[1] + sizes[2]) {
		x := point(truth, rng)
		class, least := 0, math.Inf(1)
		for k, c := range centroids {
			if d := floats.Distance(c, x, 2); d < least {
				class, least = k, d
			}
		}
		for i, p := range parts {
			if len((*p)[class]) < sizes[i] {
				(*p)[class] = append((*p)[class], x)
				missing--
				break
			}
		}
		if missing == 0 {
			return true
		}
	}
	return false
}

// sequence returns the training data in order: mixed, or one class after the
// other.
func (w *world) sequence(mixed bool) [][]float64 {
	all := slices.Concat(w.train...)
	if !mixed {
		return all
	}
	out := make([][]float64, len(all))
	for i, k := range w.order {
		out[i] = all[k]
	}
	return out
}
