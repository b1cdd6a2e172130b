package gpsoftmax

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A model holds what prediction needs. It is never changed.
type model struct {
	like likelihood
	data
	// column is the column of every class; here the classes are sorted by name,
	// so that the order in which they were learned does not matter.
	column []int
	// draws holds t of all classes, one draw after the other (D·C×r).
	draws blas64.General
	// open holds standard normals (D×C) for what t does not determine at new
	// inputs.
	open blas64.General
}

// newModel prepares the examples of all classes; the draws are made later.
func newModel(method string, cfg Config, all exemplars.Table) (*model, error) {
	names, own := slices.Sorted(slices.Values(all.Classes)), all.ByClass()
	m := &model{like: likelihoodOf(method), data: data{classes: len(names)}}
	var rows exemplars.Rows
	for c, name := range names {
		rows = append(rows, own[name]...)
		for range own[name] {
			m.own = append(m.own, c)
		}
		m.column = append(m.column, slices.Index(all.Classes, name))
	}
	k := cfg.kernel()
	x, err := k.Points(rows.Matrix(all.X.Cols, false))
	if err != nil {
		return nil, err
	}
	if m.basis, err = newBasis(k, x); err != nil {
		return nil, err
	}
	m.open = dense.New(cfg.Chains*cfg.Draws, m.classes)
	addNormals(random.Stream(cfg.Seed, "classifier/gpc/open"), m.open.Data)
	return m, nil
}

// predict returns the log-probabilities (n×C) of a few rows and, in column C,
// their novelty.
func (m *model) predict(x blas32.General) (blas64.General, error) {
	z, err := m.kernel.Points(classifier.Placed(x, dense.Range(0, x.Rows), false))
	if err != nil {
		return blas64.General{}, err
	}
	phi, open := m.features(z)
	f, out := dense.New(x.Rows, m.draws.Rows), dense.New(x.Rows, m.classes+1)
	linalg.MulTrans64(f, phi, m.draws)
	dense.Parallel(x.Rows, func(i int) {
		to := dense.Row(out, i)
		to[m.classes] = m.novelty(dense.Row(f, i), open[i])
		m.average(to[:m.classes], dense.Row(f, i), math.Sqrt(open[i]))
	})
	return out, nil
}

// average writes the logarithm of the mean likelihood over the draws,
// normalised, and overwrites f.
func (m *model) average(dst, f []float64, deviation float64) {
	for s := range m.open.Rows {
		own := f[s*m.classes : (s+1)*m.classes]
		for c, e := range dense.Row(m.open, s) {
			own[c] += deviation * e
		}
		m.like.logLikelihoods(dst, own)
		copy(own, dst)
	}
	each := make([]float64, m.open.Rows)
	for c, to := range m.column {
		for s := range each {
			each[s] = f[s*m.classes+c]
		}
		dst[to] = floats.LogSumExp(each)
	}
	classifier.LogSoftmax(dst)
}

// novelty returns min(s − m) over the classes, m and s² the mean and the variance of a
// function.
func (m *model) novelty(f []float64, open float64) float64 {
	n := float64(m.open.Rows)
	least := math.Inf(1)
	for c := range m.classes {
		var mean, squares float64
		for i := c; i < len(f); i += m.classes {
			mean += f[i] / n
		}
		for i := c; i < len(f); i += m.classes {
			squares += (f[i] - mean) * (f[i] - mean)
		}
		least = min(least, math.Sqrt(squares/n+open)-mean)
	}
	return least
}
