package pldaplus

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A scorer holds the densities of all classes and their calibration. It is
// immutable.
type scorer struct {
	space   *gauss.Space
	setting Setting
	stack   *gauss.Stack
	units   blas64.General // C×d, means of length 1; 0×d where κ = 0
	base    []int          // columns of base classes
	later   []int          // the others
	logits  blas64.General // (base classes)×d; 0×d where g = 0
	consts  []float64
	plain   *gauss.Stack // the classes with the shared covariance, if their own differ
}

// newScorer stacks classes, which then share its memory.
func newScorer(sp *gauss.Space, setting Setting, classes []class) *scorer {
	stack := gauss.StackOf(sp, classes, func(c *class) **gauss.Density { return &c.density })
	s := &scorer{space: sp, setting: setting, stack: stack, units: dense.New(0, sp.Dim()),
		logits: dense.New(0, sp.Dim())}
	for i, c := range classes {
		s.add(i, c)
	}
	return s
}

// add adds the calibration of one class to the scorer.
func (s *scorer) add(column int, c class) {
	if s.setting.Kappa > 0 {
		s.units.Data, s.units.Rows = append(s.units.Data, c.unit...), s.units.Rows+1
	}
	if !c.base {
		s.later = append(s.later, column)
		return
	}
	s.base = append(s.base, column)
	if s.setting.Rerank > 0 {
		d := s.space.Dim()
		s.logits.Data, s.logits.Rows = append(s.logits.Data, c.logit[:d]...), s.logits.Rows+1
		s.consts = append(s.consts, c.logit[d])
	}
}

// scoring takes O(d² + Cqd) per row. The novelty is that of the log-densities before any
// calibration.
func (s *scorer) scoring() classifier.Scoring {
	return classifier.Scoring{
		Scores: s.batch, Batch: s.stack.Batch(), Novelty: func(row []float64) float64 { return row[len(row)-1] },
	}
}

// batch returns for a few rows the scores of all classes, followed by the novelty
// (n×(C+1)).
func (s *scorer) batch(x blas32.General) (blas64.General, error) {
	v, err := s.values(x)
	if err != nil {
		return blas64.General{}, err
	}
	C := v.density.Cols
	out := dense.New(x.Rows, C+1)
	dense.Parallel(x.Rows, func(i int) {
		row := dense.Row(out, i)
		s.calibrate(row[:C], dense.Row(v.density, i), v.row(i))
		row[C] = v.novelty[i]
	})
	return out, nil
}

// values holds the parts of the scores of a few rows.
type values struct {
	density blas64.General // ℓ, n×C
	cosine  blas64.General // cos(z, m_c), n×C, or n×0
	rank    blas64.General // of the regression: log-softmax over base classes before g, or n×0
	novelty []float64
}

// rowValues is one row of cosine and of rank.
type rowValues struct{ cosine, rank []float64 }

func (v values) row(i int) rowValues {
	return rowValues{dense.Row(v.cosine, i), dense.Row(v.rank, i)}
}

func (s *scorer) values(x blas32.General) (values, error) {
	white, err := s.space.WhitenedRows(x)
	if err != nil {
		return values{}, err
	}
	v := values{}
	all, err := s.stack.OpenLogDensities(white)
	if err != nil {
		return v, err
	}
	v.density = dense.View(all, 0, 0, all.Rows, all.Cols-1)
	if v.novelty, err = s.noveltyOf(white, all); err != nil {
		return v, err
	}
	return v, s.addCalibration(&v, white)
}

// noveltyOf returns the novelty of whitened rows, with their log-densities (n×(C+1)). It
// compares classes of the shared covariance: a class that is wider than others would be
// nearer to whatever is far from all of them than a class that nobody has seen.
func (s *scorer) noveltyOf(white, all blas64.General) (out []float64, err error) {
	if s.plain != nil {
		all, err = s.plain.OpenLogDensities(white)
		if err != nil {
			return nil, err
		}
	}
	for i := range white.Rows {
		out = append(out, classifier.Unseen(dense.Row(all, i)))
	}
	return out, nil
}

// addCalibration fills in cosines and logits.
func (s *scorer) addCalibration(v *values, white blas64.General) error {
	v.cosine, v.rank = dense.New(white.Rows, s.units.Rows), dense.New(white.Rows, s.logits.Rows)
	if s.units.Rows > 0 {
		if err := s.space.Backend().MulTrans64(v.cosine, white, s.units); err != nil {
			return err
		}
		for i := range white.Rows {
			z := dense.Vector(dense.Row(white, i))
			if length := blas64.Nrm2(z); length > 0 {
				blas64.Scal(1/length, dense.Vector(v.row(i).cosine))
			}
		}
	}
	if s.logits.Rows == 0 {
		return nil
	}
	if err := s.space.Backend().MulTrans64(v.rank, white, s.logits); err != nil {
		return err
	}
	for i := range white.Rows {
		row := v.row(i).rank
		for c := range row {
			row[c] += s.consts[c]
		}
	}
	return nil
}

// calibrate computes scores from log-densities: s = (ℓ + κ·cos)/T, plus b for
// later classes; base classes share their log-sum-exp by log-softmax(g·logit)
// if g > 0.
func (s *scorer) calibrate(dst, density []float64, v rowValues) {
	for c, l := range density {
		if len(v.cosine) > 0 {
			l += s.setting.Kappa * v.cosine[c]
		}
		dst[c] = l / s.setting.Temperature
	}
	for _, c := range s.later {
		dst[c] += s.setting.Later
	}
	if len(v.rank) == 0 {
		return
	}
	own := make([]float64, len(s.base))
	rank := make([]float64, len(s.base))
	for i, c := range s.base {
		own[i], rank[i] = dst[c], s.setting.Rerank*v.rank[i]
	}
	mass := classifier.LogSumExp(own)
	classifier.LogSoftmax(rank)
	for i, c := range s.base {
		dst[c] = mass + rank[i]
	}
}
