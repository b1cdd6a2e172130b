package gptree

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// LogProb writes log p(class | row) in nats into dst (n×C) from the log-odds
// log p(left)/p(right) of every split (n×(C−1), one column per split number):
// eq. 9 in log space. Every row of dst is a proper distribution for any log-odds;
// finite log-odds, however large, give finite log-probabilities. ±Inf is a
// certain decision, NaN is an error. dst and logOdds must not overlap. On error
// dst is unchanged.
func (t *Tree) LogProb(dst, logOdds blas64.General) error {
	if err := t.checkLogProb(dst, logOdds); err != nil {
		return fmt.Errorf("tree of %d classes: log-probabilities: %w", t.Classes(), err)
	}
	at := make([]float64, len(t.nodes))
	for i := range dst.Rows {
		t.logProb(dense.Row(dst, i), at, dense.Row(logOdds, i))
	}
	return nil
}

// logProb fills at with the log-probability of reaching each node, parents first,
// and dst with those of the leaves.
func (t *Tree) logProb(dst, at, logOdds []float64) {
	for i, n := range t.nodes {
		if n.Class >= 0 {
			dst[n.Class] = at[i]
			continue
		}
		f := logOdds[n.Split]
		at[n.Left] = at[i] - softplus(-f)
		at[n.Right] = at[i] - softplus(f)
	}
}

// logOdds writes the log-odds log Σ_left e^s − log Σ_right e^s of every split into dst
// (n×(C−1)) from scores s of the classes (n×C): with them, LogProb gives the
// log-softmax of the scores. The scores must be finite; dst and scores must not
// overlap.
func (t *Tree) logOdds(dst, scores blas64.General) error {
	if err := t.checkLogProb(scores, dst); err != nil {
		return fmt.Errorf("tree of %d classes: log-odds: %w", t.Classes(), err)
	}
	at := make([]float64, len(t.nodes))
	for i := range dst.Rows {
		from, to := dense.Row(scores, i), dense.Row(dst, i)
		for k := len(t.nodes) - 1; k >= 0; k-- { // children first
			n := t.nodes[k]
			if n.Class >= 0 {
				at[k] = from[n.Class]
				continue
			}
			l, r := at[n.Left], at[n.Right]
			to[n.Split] = l - r
			at[k] = max(l, r) + math.Log1p(math.Exp(-math.Abs(l-r)))
		}
	}
	return nil
}

// softplus returns log(1 + eᶠ) = −log σ(−f).
func softplus(f float64) float64 { return max(f, 0) + math.Log1p(math.Exp(-math.Abs(f))) }

func (t *Tree) checkLogProb(dst, logOdds blas64.General) error {
	for _, m := range []blas64.General{dst, logOdds} {
		if err := dense.Valid(m); err != nil {
			return err
		}
	}
	if t.Classes() == 0 || dst.Cols != t.Classes() || logOdds.Cols != t.Splits() || dst.Rows != logOdds.Rows {
		return fmt.Errorf("%d×%d from log-odds of %d×%d", dst.Rows, dst.Cols, logOdds.Rows, logOdds.Cols)
	}
	for i := range logOdds.Rows {
		for split, f := range dense.Row(logOdds, i) {
			if math.IsNaN(f) {
				return fmt.Errorf("log-odds of row %d at split %d are NaN", i, split)
			}
		}
	}
	return nil
}
