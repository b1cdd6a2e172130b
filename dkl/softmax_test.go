package dkl_test

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func newSoftmax(t *testing.T, dim, classes int) *dkl.Softmax {
	t.Helper()
	return must.Get(dkl.NewSoftmax(dim, classes))(t)
}

func TestFirstLossIsLogC(t *testing.T) {
	for _, classes := range []int{1, 2, 60} {
		s := newSoftmax(t, 5, classes)
		loss, err := s.Loss(make([]float64, len(s.Theta())), dense.New(3, 5), normal(3, 5, 9, 1),
			[]int{0, classes - 1, 0})
		if err != nil || math.Abs(loss-math.Log(float64(classes))) > 1e-14 {
			t.Errorf("%d classes: %g, %v", classes, loss, err)
		}
	}
}

func TestSoftmaxExactValues(t *testing.T) {
	s := newSoftmax(t, 2, 3)
	// logits of (1, 2): log 1, log 2, log 5 with the biases
	copy(s.Theta(), []float64{0, 0, 1, 0, 0, 1, 0, math.Log(2) - 1, math.Log(5) - 2})
	z := blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: []float64{1, 2}}
	dst := dense.New(1, 3)
	must.Do(t, s.LogProb(dst, z))
	for c, want := range []float64{1.0 / 8, 2.0 / 8, 5.0 / 8} {
		if math.Abs(math.Exp(dst.Data[c])-want) > 1e-15 {
			t.Errorf("p(%d) = %g, want %g", c, math.Exp(dst.Data[c]), want)
		}
	}
	grad, gradZ := make([]float64, 9), dense.New(1, 2)
	loss, err := s.Loss(grad, gradZ, z, []int{1})
	if err != nil || math.Abs(loss-math.Log(4)) > 1e-15 {
		t.Errorf("loss %g, %v", loss, err)
	}
	want := []float64{1. / 8, 2. / 8, -6. / 8, -12. / 8, 5. / 8, 10. / 8, 1. / 8, -6. / 8, 5. / 8}
	for i, w := range want {
		if math.Abs(grad[i]-w) > 1e-15 {
			t.Errorf("gradient %d: %g, want %g", i, grad[i], w)
		}
	}
	if math.Abs(gradZ.Data[0]+6./8) > 1e-15 || math.Abs(gradZ.Data[1]-5./8) > 1e-15 {
		t.Errorf("gradient of z: %v", gradZ.Data)
	}
}

// Where p(y) rounds to 1, the gradient still knows how far from 1 it is.
func TestLossOfCertainExample(t *testing.T) {
	s := newSoftmax(t, 1, 2)
	copy(s.Theta(), []float64{50, 0, 0, 0})
	grad, gradZ := make([]float64, 4), dense.New(1, 1)
	loss, err := s.Loss(grad, gradZ, blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{1}}, []int{0})
	if err != nil || loss < 0 {
		t.Fatalf("%g, %v", loss, err)
	}
	if rest := math.Exp(-50); math.Abs(grad[1]/rest-1) > 1e-12 || grad[0] != -grad[1] {
		t.Errorf("gradients %g, want %g and its opposite", grad[:2], rest)
	}
}

func TestSoftmaxRefuses(t *testing.T) {
	for _, c := range [][2]int{{0, 2}, {1 << 17, 2}, {3, 0}, {1 << 16, 1 << 16}} {
		if _, err := dkl.NewSoftmax(c[0], c[1]); err == nil {
			t.Errorf("dimension %d, %d classes", c[0], c[1])
		}
	}
	s := newSoftmax(t, 2, 3)
	if s.Classes() != 3 || s.Dim() != 2 {
		t.Errorf("%d classes, dimension %d", s.Classes(), s.Dim())
	}
	theta, z, g := make([]float64, 9), normal(2, 2, 1, 1), dense.New(2, 2)
	nan := normal(2, 2, 1, 1)
	nan.Data[3] = math.NaN()
	for name, c := range map[string]struct {
		theta []float64
		g, z  blas64.General
		y     []int
	}{
		"no rows":    {theta, dense.New(0, 2), dense.New(0, 2), nil},
		"labels":     {theta, g, z, []int{1}},
		"class 3":    {theta, g, z, []int{1, 3}},
		"class −1":   {theta, g, z, []int{-1, 0}},
		"parameters": {theta[1:], g, z, []int{1, 0}},
		"gradient":   {theta, dense.New(2, 3), z, []int{1, 0}},
		"columns":    {theta, g, dense.New(2, 3), []int{1, 0}},
		"NaN":        {theta, g, nan, []int{1, 0}},
	} {
		if _, err := s.Loss(c.theta, c.g, c.z, c.y); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := s.LogProb(dense.New(2, 2), z); err == nil {
		t.Error("log-probabilities of 3 classes in 2 columns")
	}
	if err := s.LogProb(dense.New(0, 3), dense.New(0, 2)); err != nil {
		t.Error(err)
	}
}

func TestDivergenceIsAnError(t *testing.T) {
	s := newSoftmax(t, 1, 2)
	z := blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{1e10}}
	for name, v := range map[string][]float64{
		"loss": {1e298, -1e298, 0, 0}, "logits": {1e300, 0, 0, 0},
	} {
		copy(s.Theta(), v)
		_, err := s.Loss(make([]float64, 4), dense.New(1, 1), z, []int{1})
		if err == nil || !strings.Contains(err.Error(), "lower the rate") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
