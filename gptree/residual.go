package gptree

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/gp"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A verdict compares the residual of a part with the mean alone on left-out examples:
// at the mean's own T, and at the T that suits these examples best. By the first alone,
// a residual could pay because the T of the base session is wrong for classes of few
// examples, by making the whole part sharper or softer. That shifts the balance with
// the other parts.
type verdict struct {
	gains [2][]float64 // nats by example, summed over its path in the part
	left  []bool       // which examples count
}

// verdict returns the verdict on a part before its nodes are added: minus the
// log-probabilities of the mean alone within the part. column holds the columns of its
// classes, and t is the mean's T.
func (s seen) verdict(column []int, t float64) verdict {
	n := len(s.left)
	v := verdict{[2][]float64{make([]float64, n), make([]float64, n)}, make([]bool, n)}
	var counted, own []int
	for i, left := range s.left {
		c := slices.Index(column, s.own[i])
		if v.left[i] = left && c >= 0; v.left[i] {
			counted, own = append(counted, i), append(own, c)
		}
	}
	logProb := dense.New(len(counted), len(column))
	for k, i := range counted {
		for j, c := range column {
			dense.Row(logProb, k)[j] = dense.Row(s.logProb, i)[c]
		}
	}
	tempered := make([]float64, len(column))
	for kind, t := range []float64{t, temperature.Of(logProb, own)} {
		for k, i := range counted {
			floats.ScaleTo(tempered, 1/t, dense.Row(logProb, k))
			v.gains[kind][i] = floats.LogSumExp(tempered) - tempered[own[k]]
		}
	}
	return v
}

// add adds a node: with is log p(y_i | the other examples) of its examples with the
// residual, and rows are their numbers, −1 for one that does not count.
func (v verdict) add(rows []int, with []float64) {
	for i, r := range rows {
		if r >= 0 && v.left[r] {
			v.gains[0][r] += with[i]
			v.gains[1][r] += with[i]
		}
	}
}

// pays reports whether the residual raises the mean log-probability of left-out
// examples by more than its standard error, at both T.
func (v verdict) pays() bool {
	for _, all := range v.gains {
		var gains []float64
		for i, left := range v.left {
			if left {
				gains = append(gains, all[i])
			}
		}
		if len(gains) < 2 {
			return false
		}
		gain, deviation := stat.MeanStdDev(gains, nil)
		if gain <= stat.StdErr(deviation, float64(len(gains))) {
			return false
		}
	}
	return true
}

// judge leaves the parts that were not fitted by VI to the mean where the residual
// does not pay.
func (m *model) judge(s seen) error {
	ids, rows := m.splitIDs(), s.rowsOf(m)
	for part := range m.parts {
		v := s.verdict(m.mean.columns(m.parts[part].classes), m.mean.temperature)
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
			v.add(rows[n.lo:n.hi], with)
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
	return slices.ContainsFunc(dense.Range(0, len(ids)),
		func(s int) bool { return !ids[s].root && ids[s].part == part && m.nodes[s].latent != nil })
}

// residual returns how many of the splits have a Gaussian process besides the mean,
// and how many there are. At the roots over sessions there is none.
func (h *GPTree) residual() (with, splits int) {
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

// Describe implements classifier.Describer: it tells where there is a residual.
func (h *GPTree) Describe() []classifier.Remark {
	if h.model == nil || h.cfg.Mean == MeanZero {
		return nil
	}
	with, splits := h.residual()
	text := fmt.Sprintf("at %d of %d splits; elsewhere the mean (%s) alone decides", with, splits, h.cfg.Mean)
	return []classifier.Remark{{Subject: "residual", Text: text}}
}
