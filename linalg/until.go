package linalg

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Until returns m with products that fail with ctx.Err() once ctx is cancelled: a fit that
// multiplies for minutes between two looks at its context then ends at its next product. Those of
// gonum, which are small, do not fail.
func Until(ctx context.Context, m Backend) Backend {
	if !m.IsGonum() {
		m.scores, m.fits = until{ctx, m.scores}, until{ctx, m.fits}
	}
	return m
}

type until struct {
	ctx context.Context
	Kernel
}

func (k until) Mul32(dst, a, b blas32.General) error {
	if err := k.ctx.Err(); err != nil {
		return err
	}
	return k.Kernel.Mul32(dst, a, b)
}

func (k until) Mul64(dst, a, b blas64.General) error {
	if err := k.ctx.Err(); err != nil {
		return err
	}
	return k.Kernel.Mul64(dst, a, b)
}

func (k until) MulPlain64(dst, a, b blas64.General) error {
	if err := k.ctx.Err(); err != nil {
		return err
	}
	return k.Kernel.MulPlain64(dst, a, b)
}

// stopped reports whether err is that of a product after Until's context ended.
func stopped(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
