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
	b.kernel, b.raw = untilKernel{b.kernel, ctx}, untilRaw{untilKernel{b.raw, ctx}, b.raw}
	return b
}

type untilKernel struct {
	Kernel
	ctx context.Context
}

func (k untilKernel) Mul32(dst, a, b blas32.General) error {
	if err := k.ctx.Err(); err != nil {
		return err
	}
	return k.Kernel.Mul32(dst, a, b)
}

func (k untilKernel) Mul64(dst, a, b blas64.General) error {
	if err := k.ctx.Err(); err != nil {
		return err
	}
	return k.Kernel.Mul64(dst, a, b)
}

type untilRaw struct {
	untilKernel
	raw Raw
}

func (k untilRaw) MulPlain64(dst, a, b blas64.General) error {
	if err := k.ctx.Err(); err != nil {
		return err
	}
	return k.raw.MulPlain64(dst, a, b)
}

// stopped reports whether err is that of a product after Until's context ended.
func stopped(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
