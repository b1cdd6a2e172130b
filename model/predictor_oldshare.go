package model

import (
	"fmt"
	"maps"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/onnx"
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

// logPrior returns the logarithms of what the share multiplies the probabilities of the
// classes by, nil for nothing: without a share, or unless there are base classes and
// later ones.
func (s OldShare) logPrior(classes []string, base baseClasses) logPrior {
	old := base.among(classes)
	later := len(classes) - old
	if s == 0 || old == 0 || later == 0 {
		return nil
	}
	out := make(logPrior, len(classes))
	for i, c := range classes {
		if base[c] {
			out[i] = math.Log(float64(s) / float64(old))
		} else {
			out[i] = math.Log((1 - float64(s)) / float64(later))
		}
	}
	return out
}

// A logPrior has a summand for the log-probability of each class, or is nil.
type logPrior []float64

// apply changes log-probabilities (n×C).
func (prior logPrior) apply(logProb blas64.General) {
	if prior == nil {
		return
	}
	for i := range logProb.Rows {
		row := dense.Row(logProb, i)
		floats.Add(row, prior)
		classifier.LogSoftmax(row)
	}
}

// graph is apply for the tensor of an ONNX graph.
func (prior logPrior) graph(g *onnx.Graph, logProb string) string {
	if prior == nil {
		return logProb
	}
	return classifier.LogSoftmaxGraph(g, g.Op("Add", g.Cast(logProb, onnx.Float64), g.Float64s(prior, 1, len(prior))))
}

// baseClasses are the classes of the base session that are left. They are never changed,
// only replaced.
type baseClasses map[string]bool

// among returns how many of the classes are of the base session.
func (b baseClasses) among(classes []string) int {
	n := 0
	for _, c := range classes {
		if b[c] {
			n++
		}
	}
	return n
}

// later returns the share of the classes that later sessions brought; 0 of none.
func (b baseClasses) later(classes []string) float64 {
	return float64(len(classes)-b.among(classes)) / float64(max(len(classes), 1))
}

// renamed returns those that are left once a class has another name, or is one with the class that has
// that name, in whose place it then is.
func (b baseClasses) renamed(class, to string, joins bool) baseClasses {
	if !b[class] {
		return b
	}
	out := maps.Clone(b)
	delete(out, class)
	if !joins {
		out[to] = true
	}
	return out
}

// of returns those that are among the classes.
func (b baseClasses) of(classes []string) baseClasses {
	out := make(baseClasses, len(b))
	for _, c := range classes {
		if b[c] {
			out[c] = true
		}
	}
	return out
}
