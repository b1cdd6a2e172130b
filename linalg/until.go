package linalg

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Until returns m, which On has made, with products that fail with ctx.Err() once
// ctx is cancelled: a fit that multiplies for minutes between two looks at its
// context then ends at its next product. It returns any other backend as it is.
func Until(ctx context.Context, m Backend) Backend {
	b, ok := m.(backend)
	if !ok {
		return m
	}
	b.kernel, b.raw = until{ctx, b.kernel, nil}, until{ctx, b.raw, b.raw}
	return b
}

type until struct {
	ctx    context.Context
	kernel Kernel
	raw    Raw // nil for a Kernel that is no Raw
}

func (k until) Mul32(dst, a, b blas32.General) error {
	if err := k.ctx.Err(); err != nil {
		return err
	}
	return k.kernel.Mul32(dst, a, b)
}

func (k until) Mul64(dst, a, b blas64.General) error {
	if err := k.ctx.Err(); err != nil {
		return err
	}
	return k.kernel.Mul64(dst, a, b)
}

func (k until) MulPlain64(dst, a, b blas64.General) error {
	if err := k.ctx.Err(); err != nil {
		return err
	}
	return k.raw.MulPlain64(dst, a, b)
}

// stopped reports whether err is that of a product after Until's context ended.
func stopped(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
