package gptree

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/examples"
)

// kept is what stays of a class: its embeddings, or its inducing inputs. It is
// never changed, only replaced.
type kept struct {
	rows examples.Rows
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
		blas64.Axpy(1/float64(len(rows)), vector(x), vector(mean))
	}
	return mean
}

// members is kept by class, in column order.
type members = classifier.Table[kept]

// branch is classes that have a tree of their own, sorted by name.
type branch []string

// parts returns what is joined, in the order of joining.
func (c Config) parts(all *members) []branch {
	bySession := make(map[int]branch)
	var sessions []int
	for i, name := range all.Names() {
		s := c.partOf(all.Values()[i].session)
		if _, ok := bySession[s]; !ok {
			sessions = append(sessions, s)
		}
		bySession[s] = append(bySession[s], name)
	}
	if c.Growth == GrowRebuild && len(sessions) > 1 {
		every := slices.Sorted(slices.Values(all.Names()))
		return []branch{every}
	}
	slices.Sort(sessions)
	out := make([]branch, len(sessions))
	for i, s := range sessions {
		out[i] = bySession[s]
		slices.Sort(out[i])
	}
	return out
}

// partOf returns the number of the part that the classes of a session go to.
func (c Config) partOf(session int) int {
	if session == baseSession || c.Growth == GrowSession {
		return session
	}
	return 1
}
