package model

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
)

// An OldShare is the share of images that are expected to show classes of the base
// session, between 0 and 1; the others show later classes. 0 leaves what the head
// says, which expects every class equally often: a share of B/(B+N) for B base
// classes and N later ones.
//
// A share s multiplies the odds of a base class against a later one by
// s/(1−s) · N/B, the exact change of the classes' prior probabilities. Probabilities
// within either kind of classes keep their proportions.
type OldShare float64

// Note says what a share other than 0 means.
func (s OldShare) Note() string {
	return fmt.Sprintf("%g %% of images are expected to show classes of the base session", 100*float64(s))
}

// Validate returns an error unless the share is 0 or between 0 and 1.
func (s OldShare) Validate() error {
	if !(s >= 0 && s < 1) {
		return fmt.Errorf("old_share: %g is not between 0 and 1 (0 leaves what the method says)", float64(s))
	}
	return nil
}

// logPrior returns the logarithms of what a share multiplies the probabilities of the
// classes by, nil for nothing: without a share, or unless there are base classes and
// later ones.
func (p *Predictor) logPrior() []float64 {
	classes, old := p.Classes(), p.old()
	later := len(classes) - old
	if p.OldShare == 0 || old == 0 || later == 0 {
		return nil
	}
	out := make([]float64, len(classes))
	for i, c := range classes {
		if p.base[c] {
			out[i] = math.Log(float64(p.OldShare) / float64(old))
		} else {
			out[i] = math.Log((1 - float64(p.OldShare)) / float64(later))
		}
	}
	return out
}

// old returns the number of classes of the base session that are left.
func (p *Predictor) old() int {
	n := 0
	for _, c := range p.Classes() {
		if p.base[c] {
			n++
		}
	}
	return n
}

// laterShare returns the share of the classes that later sessions brought; 0 of none.
func (p *Predictor) laterShare() float64 {
	n := len(p.Classes())
	return float64(n-p.old()) / float64(max(n, 1))
}

// applyShare changes log-probabilities (n×C) by the share.
func (p *Predictor) applyShare(logProb blas64.General) {
	prior := p.logPrior()
	if prior == nil {
		return
	}
	for i := range logProb.Rows {
		row := dense.Row(logProb, i)
		floats.Add(row, prior)
		classifier.LogSoftmax(row)
	}
}

// shareGraph is applyShare for the tensor of an ONNX graph.
func (p *Predictor) shareGraph(g *onnx.Graph, logProb string) string {
	prior := p.logPrior()
	if prior == nil {
		return logProb
	}
	return classifier.LogSoftmaxGraph(g, g.Op("Add", g.Cast(logProb, onnx.Float64), g.Float64s(prior, 1, len(prior))))
}

// startedWith sets the classes of the base session.
func (p *Predictor) startedWith(classes []string) { p.base = set(classes) }

// onlyOf returns the names that are among the classes.
func onlyOf(names map[string]bool, classes []string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, c := range classes {
		if names[c] {
			out[c] = true
		}
	}
	return out
}
