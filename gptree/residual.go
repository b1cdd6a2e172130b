package gptree

import (
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/gp"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A verdict compares the residual with the mean alone on left-out examples.
type verdict struct {
	gain []float64 // nats by example, summed over its path
	left []bool
}

func newVerdict(left []bool) verdict { return verdict{make([]float64, len(left)), left} }

// add adds a node: with is log p(y_i | the other examples) of its examples with the
// residual, mean their m_v, yes their sides and rows their numbers, −1 for one that
// does not count.
func (v verdict) add(rows []int, with, mean []float64, yes []bool) {
	for i, r := range rows {
		if r < 0 || !v.left[r] {
			continue
		}
		alone := -softplus(-mean[i])
		if !yes[i] {
			alone = -softplus(mean[i])
		}
		v.gain[r] += with[i] - alone
	}
}

// pays reports whether the residual raises the mean log-probability of left-out
// examples by more than its standard error.
func (v verdict) pays() bool {
	var gains []float64
	for i, left := range v.left {
		if left {
			gains = append(gains, v.gain[i])
		}
	}
	if len(gains) < 2 {
		return false
	}
	gain, deviation := stat.MeanStdDev(gains, nil)
	return gain > stat.StdErr(deviation, float64(len(gains)))
}

// judge leaves the parts that were not fitted by VI to the mean where the residual
// does not pay.
func (m *model) judge(s seen) error {
	ids, rows := m.splitIDs(), s.rowsOf(m)
	for part := range m.parts {
		v := newVerdict(s.left)
		var judged []int
		for split, n := range m.nodes {
			g, ok := n.latent.(*gp.Gibbs)
			if !ok || ids[split].part != part {
				continue
			}
			with, err := g.LeaveOneOut()
			if err != nil {
				return err
			}
			judged = append(judged, split)
			v.add(rows[n.lo:n.hi], with, n.mean, g.Yes())
		}
		if len(judged) > 0 && !v.pays() {
			for _, split := range judged {
				m.nodes[split].latent, m.nodes[split].mean = nil, nil
			}
		}
	}
	return nil
}

// residual reports whether a part has Gaussian processes besides the mean.
func (m *model) residual(part int) bool {
	ids := m.splitIDs()
	return slices.ContainsFunc(dense.Range(0, len(ids)), func(s int) bool { return !ids[s].root && ids[s].part == part && m.nodes[s].latent != nil })
}

// Residual returns how many of the splits have a Gaussian process besides the mean,
// and how many there are. At the roots over sessions there is none.
func (h *GPTree) Residual() (with, splits int) {
	if h.model == nil {
		return 0, 0
	}
	for _, n := range h.model.nodes {
		if n.latent != nil {
			with++
		}
	}
	return with, len(h.model.nodes)
}
