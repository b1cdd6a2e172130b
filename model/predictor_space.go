package model

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// keptEpsilon is the shrinkage of a covariance of kept embeddings, that of
// plda for a large session.
const keptEpsilon = 0.3

// Compare returns the space in which embeddings of unknown classes are
// compared, and the rows of x (n×d) whitened in it. The space is the head's; if
// it has none, that of the embeddings that are kept; if there are none either,
// one without directions, with the variance of x.
func (p *Predictor) Compare(ctx context.Context, x blas32.General) (*gauss.Space, blas64.General, error) {
	z, err := p.project(x)
	if err != nil {
		return nil, blas64.General{}, err
	}
	rows := classifier.Placed(z, dense.Range(0, z.Rows), true)
	space, err := p.space(ctx)
	if err != nil {
		return nil, blas64.General{}, err
	}
	if space == nil {
		space = gauss.Isotropic(rows)
	}
	white, err := space.Whitened(rows)
	return space, white, err
}

// space returns the space of the head or of what is kept, nil if there is
// neither.
func (p *Predictor) space(ctx context.Context) (*gauss.Space, error) {
	if head, ok := p.Head.(gauss.Spacer); ok {
		return head.Space(), nil
	}
	var x blas32.General
	var y []string
	if p.kept != nil {
		for _, s := range p.kept.sessions {
			x.Rows, x.Cols, x.Stride = x.Rows+s.X.Rows, s.X.Cols, s.X.Cols
			x.Data, y = append(x.Data, s.X.Data...), append(y, s.Y...)
		}
	}
	if len(y) == 0 {
		return nil, nil
	}
	z, err := p.project(x)
	if err != nil {
		return nil, err
	}
	s, err := moments.NewSession(z, y, z.Cols, true)
	if err != nil {
		return nil, err
	}
	basis, err := gauss.Fit(ctx, p.env.Backend, s, s.Totals())
	if err != nil {
		return nil, err
	}
	return basis.Space(keptEpsilon)
}
