package bound

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/polyagamma"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// jitter is what the diagonal of K_mm grows by, relative to itself.
const jitter = 1e-6

// A node is q(u) of a split and the room of its computations. Triangular
// matrices have zeros above the diagonal: they are multiplied as a whole, which
// a library does quicker than solving with them.
type node struct {
	Split
	lo, hi   int // inducing inputs
	examples float64
	raw      linalg.Raw

	eta  []float64
	p    blas64.General // lower triangle
	r    blas64.General // R⁻¹
	logR float64        // log|R|
	mean []float64      // Eu = R⁻ᵀR⁻¹h

	l                blas64.General // L⁻¹
	kmm, room        blas64.General // m×m: gradient of K_mm, anything
	from, middle, to int            // rows of the batch
	a, t, abar       blas64.General // B_v×m: A, A·R⁻ᵀ, gradient
	mu, c, rest, knn []float64      // B_v: moments, K_ii − ‖aᵢ‖², gradient of K_ii
	loss             float64
}

// leastNative is the number of inducing inputs from which on a library pays.
const leastNative = 48

func newNode(s Split, lo, hi, examples int, raw linalg.Raw) node {
	m := hi - lo
	v := node{Split: s, lo: lo, hi: hi, examples: float64(examples), raw: raw, eta: make([]float64, m), mean: make([]float64, m)}
	if m < leastNative {
		v.raw = linalg.Gonum{}
	}
	for _, room := range []*blas64.General{&v.p, &v.r, &v.l, &v.kmm, &v.room} {
		*room = dense.New(m, m)
	}
	for i := range m {
		dense.Row(v.p, i)[i], dense.Row(v.r, i)[i] = 1, 1
	}
	return v
}

func (v *node) len() int { return v.hi - v.lo }

// cholesky writes the factor of the node's part of K_mm into dst; what is above
// its diagonal has no meaning.
func (v *node) cholesky(dst, kmm blas64.General) error {
	for i := range v.len() {
		to := dense.Row(dst, i)
		copy(to[:i+1], dense.Row(kmm, v.lo+i)[v.lo:v.lo+i+1])
		to[i] *= 1 + jitter
	}
	return factorize(v.raw, dst)
}

// factor computes L⁻¹.
func (v *node) factor(kmm blas64.General) error {
	if err := v.cholesky(v.l, kmm); err != nil {
		return err
	}
	return linalg.InvertLower(v.raw, v.l)
}

// place computes A and K_ii − ‖aᵢ‖² of the rows of the node.
func (v *node) place(p Problem) error {
	n := v.to - v.from
	v.a, v.t, v.abar = sized(v.a, n, v.len()), sized(v.t, n, v.len()), sized(v.abar, n, v.len())
	v.mu, v.c, v.rest, v.knn = grown(v.mu, n), grown(v.c, n), grown(v.rest, n), grown(v.knn, n)
	for i := range n {
		copy(dense.Row(v.t, i), dense.Row(p.Knm, v.from+i)[v.lo:v.hi])
	}
	if err := v.timesTrans(v.a, v.t, v.l); err != nil {
		return err
	}
	for i := range n {
		a := dense.Vector(dense.Row(v.a, i))
		v.rest[i] = max(p.Knn[v.from+i]-blas64.Dot(a, a), 0)
	}
	return nil
}

// moments computes T = A·R⁻ᵀ, μ and c (eq. 16).
func (v *node) moments() error {
	if err := v.timesTrans(v.t, v.a, v.r); err != nil {
		return err
	}
	for i := range v.c {
		t := dense.Vector(dense.Row(v.t, i))
		v.mu[i] = blas64.Dot(dense.Vector(dense.Row(v.a, i)), dense.Vector(v.mean))
		v.c[i] = math.Sqrt(v.rest[i] + blas64.Dot(t, t) + v.mu[i]*v.mu[i])
	}
	return nil
}

// kappa is y − ½ of a row: the left ones come first.
func (v *node) kappa(i int) float64 {
	if v.from+i < v.middle {
		return 0.5
	}
	return -0.5
}

// update takes a natural-gradient step.
func (v *node) update(rate float64) error {
	if err := v.moments(); err != nil {
		return err
	}
	n, m := len(v.c), v.len()
	weight := rate * v.examples / float64(n)
	scaled := v.t // rows λᵢaᵢ
	for j := range m {
		v.eta[j] *= 1 - rate
	}
	for i, c := range v.c {
		lambda, kappa := weight*polyagamma.Mean(1, c), weight*v.kappa(i)
		to := dense.Row(scaled, i)
		for j, a := range dense.Row(v.a, i) {
			to[j] = lambda * a
			v.eta[j] += kappa * a
		}
	}
	if err := linalg.Plain64(v.raw, v.room, dense.Transposed(scaled), v.a); err != nil {
		return err
	}
	for i := range m {
		to := dense.Row(v.p, i)[:i+1]
		for j, x := range dense.Row(v.room, i)[:i+1] {
			to[j] = (1-rate)*to[j] + x
		}
		to[i] += rate
	}
	return v.refresh()
}

// refresh derives R⁻¹, log|R| and Eu from the natural parameters.
func (v *node) refresh() error {
	dense.Copy(v.r, v.p)
	if err := factorize(v.raw, v.r); err != nil {
		return err
	}
	v.logR = 0
	for i := range v.len() {
		v.logR += math.Log(dense.Row(v.r, i)[i])
	}
	if err := linalg.InvertLower(v.raw, v.r); err != nil {
		return err
	}
	clear(v.mean)
	for i := range v.len() {
		r := dense.Vector(dense.Row(v.r, i)[:i+1])
		blas64.Axpy(blas64.Dot(r, dense.Vector(v.eta[:i+1])), r, dense.Vector(v.mean[:i+1]))
	}
	return nil
}

// evaluate computes the loss, 0 of a node without rows.
func (v *node) evaluate() error {
	v.loss = 0
	if v.from == v.to {
		return nil
	}
	if err := v.moments(); err != nil {
		return err
	}
	var fit float64
	for i, c := range v.c {
		fit += v.kappa(i)*v.mu[i] - c/2 - math.Log1p(math.Exp(-c))
	}
	v.loss = v.divergence()/v.examples - fit/float64(len(v.c))
	return nil
}

// divergence returns KL(q(u)‖N(0, I)).
func (v *node) divergence() float64 {
	var sum float64
	for i, mean := range v.mean {
		r := dense.Vector(dense.Row(v.r, i)[:i+1])
		sum += blas64.Dot(r, r) + mean*mean - 1
	}
	return sum/2 + v.logR
}
