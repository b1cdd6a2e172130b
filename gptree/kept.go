package gptree

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/exemplars"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// kept is what stays of a class: its embeddings, or its inducing inputs. It is
// never changed, only replaced.
type kept struct {
	rows exemplars.Rows
	// session is when the class came, 0 for the base session.
	session int
}

// baseSession is the session of base classes.
const baseSession = 0

// meanOf returns the mean of rows, of length 1 each where unit.
func meanOf(rows [][]float32, d int, unit bool) []float64 {
	mean, x := make([]float64, d), make([]float64, d)
	for _, r := range rows {
		if unit {
			classifier.Unit(x, r)
		} else {
			for j, v := range r {
				x[j] = float64(v)
			}
		}
		blas64.Axpy(1/float64(len(rows)), dense.Vector(x), dense.Vector(mean))
	}
	return mean
}

// members is kept by class, in column order.
type members = classifier.Table[kept]

// branch is classes that have a tree of their own, sorted by name.
type branch []string

// A subtree is classes under one tree.
type subtree struct {
	classes branch
	// fitted is their session where it was fitted by VI, else nil.
	fitted *vi
}

// parts returns what is joined, in the order of joining: sessions fitted by VI
// first, each a part of its own.
func (c Config) parts(all *members, fitted variational) []subtree {
	byKey := make(map[int]subtree)
	for i, name := range all.Names() {
		key := c.partOf(all.Values()[i].session, fitted)
		byKey[key] = subtree{append(byKey[key].classes, name), fitted.of(key)}
	}
	if c.Growth == GrowRebuild && len(byKey) > 1 {
		return []subtree{{classes: slices.Sorted(slices.Values(all.Names()))}}
	}
	var out []subtree
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		slices.Sort(byKey[key].classes)
		out = append(out, byKey[key])
	}
	return out
}

// partOf returns the number of the part that the classes of a session go to.
func (c Config) partOf(session int, fitted variational) int {
	if session == baseSession || c.Growth == GrowSession || fitted.of(session) != nil {
		return session
	}
	return math.MaxInt
}
