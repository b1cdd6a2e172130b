package gptree

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// baseSession is the session of base classes.
const baseSession = 0

// meanOf returns the mean of rows, scaled to length 1 if unit.
func meanOf(rows exemplars.Rows, d int, unit bool) []float64 {
	mean, x := make([]float64, d), rows.Matrix(d, unit)
	for i := range x.Rows {
		blas64.Axpy(1/float64(x.Rows), dense.Vector(dense.Row(x, i)), dense.Vector(mean))
	}
	return mean
}

// branch is a set of classes with a separate tree, sorted by name.
type branch []string

// A subtree is a set of classes under one tree.
type subtree struct {
	classes branch
	// fitted is their session if it was fitted by VI, else nil.
	fitted *vi
}

// parts returns the subtrees in the order in which they are joined: sessions
// fitted by VI first, each a separate part.
func (c Config) parts(all exemplars.Table, fitted variational) []subtree {
	byKey := make(map[int]subtree)
	for i, name := range all.Classes {
		key := c.partOf(all.Sessions[i], fitted)
		byKey[key] = subtree{append(byKey[key].classes, name), fitted.of(key)}
	}
	if c.Growth == GrowRebuild && len(byKey) > 1 {
		return []subtree{{classes: slices.Sorted(slices.Values(all.Classes))}}
	}
	var out []subtree
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		slices.Sort(byKey[key].classes)
		out = append(out, byKey[key])
	}
	return out
}

// partOf returns the number of the part that holds the classes of a session.
func (c Config) partOf(session int, fitted variational) int {
	if session == baseSession || c.Growth == GrowSession || fitted.of(session) != nil {
		return session
	}
	return math.MaxInt
}
