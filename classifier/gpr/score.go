package gpr

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// LogProb implements classifier.Classifier in O(n(d+C)) a row.
func (h *GPR) LogProb(dst blas64.General, x blas32.General) error {
	s := h.scoring()
	s.Scores = func(x blas32.General) (blas64.General, error) {
		out := dense.New(x.Rows, h.classes.Len())
		return out, h.reg.Mean(out, h.placed(x))
	}
	return s.LogProbs(dst, x)
}

// Novelty implements classifier.Noveltier: the predictive variance.
func (h *GPR) Novelty(dst []float64, x blas32.General) error { return h.Variance(dst, x) }

// Variance implements classifier.Varier: eq. 3, in O(n(d+n)) a row.
func (h *GPR) Variance(dst []float64, x blas32.General) error {
	s := h.scoring()
	s.Scores = func(x blas32.General) (blas64.General, error) {
		out := dense.New(x.Rows, 1)
		return out, h.reg.Variance(out.Data, h.placed(x))
	}
	return s.Novelties(dst, x)
}

// Score implements classifier.Scorer.
func (h *GPR) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	return h.scoring().Both(dst, novelty, x)
}

// scoring has scores of n×(C+1): the means, and the variance.
func (h *GPR) scoring() classifier.Scoring {
	return classifier.Scoring{
		Method: "gpr", Head: h, LogProb: h.logProb,
		Novelty: func(scores []float64) float64 { return scores[len(scores)-1] },
		Scores: func(x blas32.General) (blas64.General, error) {
			out, z := dense.New(x.Rows, h.classes.Len()+1), h.placed(x)
			means := blas64.General{Rows: out.Rows, Cols: out.Cols - 1, Stride: out.Stride, Data: out.Data}
			if err := h.reg.Mean(means, z); err != nil {
				return out, err
			}
			variances := make([]float64, x.Rows)
			err := h.reg.Variance(variances, z)
			for i, v := range variances {
				out.Data[(i+1)*out.Stride-1] = v
			}
			return out, err
		},
	}
}

func (h *GPR) placed(x blas32.General) blas64.General {
	return classifier.Placed(x, classifier.Range(0, x.Rows), h.cfg.Normalize)
}

// logProb is log-softmax(μ/τ).
func (h *GPR) logProb(dst, scores []float64) {
	for j := range dst {
		dst[j] = scores[j] / h.tau
	}
	classifier.LogSoftmax(dst)
}
