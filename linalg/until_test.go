package linalg

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

func TestUntil(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	m := Until(ctx, OnFrom(Gonum{}, Gonum{}, 0))
	a32, a64 := dense.New32(40, 200), dense.New(40, 200)
	products := map[string]func() error{
		"Mul32":      func() error { return m.Mul32(dense.New32(40, 40), a32, a32) },
		"Mul64":      func() error { return m.Mul64(dense.New(40, 40), a64, a64) },
		"MulTrans":   func() error { return m.MulTrans(dense.New32(40, 40), a32, a32) },
		"MulTrans64": func() error { return m.MulTrans64(dense.New(40, 40), a64, a64) },
		"raw Mul32":  func() error { return m.Raw().Mul32(dense.New32(40, 40), a32, a32) },
		"raw Mul64":  func() error { return m.Raw().Mul64(dense.New(40, 40), a64, a64) },
		"MulPlain64": func() error { return m.Raw().MulPlain64(dense.New(40, 40), a64, dense.New(200, 40)) },
		"TopEigen": func() error {
			_, err := Solver{Backend: m}.TopEigen(dense.New(200, 200), 5)
			return err
		},
		"ThinEigen": func() error {
			_, err := Solver{Backend: m, Float32: true}.ThinEigen(dense.New(200, 300), 5, 1)
			return err
		},
	}
	for name, product := range products {
		if err := product(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	cancel()
	for name, product := range products {
		if err := product(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s after the end: %v", name, err)
		}
	}
	if got := Until(ctx, Backend{}); got != (Backend{}) {
		t.Errorf("gonum became %v", got)
	}
}
