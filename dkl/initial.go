package dkl

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
)

// initialise draws θ as described in the package comment; biases stay 0.
func (h *Projection) initialise() {
	if h.shape.hidden > 0 {
		gaussian(h.w.hidden.w, math.Sqrt(2/float64(h.shape.in)), h.draws("hidden"))
	}
	if !h.shape.residual {
		orthogonal(h.w.out.w, h.draws("out"))
	}
	if h.shape.trainedSkip() {
		orthogonal(h.w.skip.w, h.draws("skip"))
	}
}

func (h *Projection) draws(tensor string) *rand.Rand {
	return random.Stream(h.cfg.Seed, "dkl/initial/"+tensor)
}

func gaussian(w blas64.General, deviation float64, rng *rand.Rand) {
	for i := range w.Data {
		w.Data[i] = deviation * rng.NormFloat64()
	}
}

// orthogonal fills w with orthonormal columns, or rows if there are fewer rows
// than columns: the Q of a Gaussian matrix.
func orthogonal(w blas64.General, rng *rand.Rand) {
	tall := dense.New(max(w.Rows, w.Cols), min(w.Rows, w.Cols))
	gaussian(tall, 1, rng)
	tau := make([]float64, tall.Cols)
	size := []float64{0}
	lapack64.Geqrf(tall, tau, size, -1)
	work := make([]float64, int(size[0]))
	lapack64.Geqrf(tall, tau, work, len(work))
	lapack64.Orgqr(tall, tau, size, -1)
	work = make([]float64, int(size[0]))
	lapack64.Orgqr(tall, tau, work, len(work))
	if w.Rows < w.Cols {
		tall = dense.Transposed(tall)
	}
	copy(w.Data, tall.Data)
}
