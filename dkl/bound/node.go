package bound

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/seed-90d10d51/pipeline/gp/polyagamma"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// jitter is what the diagonal of K_mm grows by, relative to itself.
const jitter = 1e-6

// A node is q(u) of a split and the room of its computations. Matrices m×m
// hold a lower triangle unless they say otherwise.
type node struct {
	Split
	lo, hi   int // inducing inputs
	examples float64

	eta  []float64
	p, r blas64.General
	w    []float64 // R⁻¹h
	mean []float64 // Eu = R⁻ᵀw

	l, kmm           blas64.General // factor; full gradient of K_mm
	from, middle, to int            // rows of the batch
	a, t, abar       blas64.General // B_v×m: A, A·R⁻ᵀ, gradient
	mu, c, rest, knn []float64      // B_v: moments, K_ii − ‖aᵢ‖², gradient of K_ii
	loss             float64
}

func newNode(s Split, lo, hi, examples int) node {
	m := hi - lo
	v := node{Split: s, lo: lo, hi: hi, examples: float64(examples), eta: make([]float64, m), mean: make([]float64, m), w: make([]float64, m)}
	v.p, v.r, v.l, v.kmm = linalg.New64(m, m), linalg.New64(m, m), linalg.New64(m, m), linalg.New64(m, m)
	for i := range m {
		row(v.p, i)[i], row(v.r, i)[i] = 1, 1
	}
	return v
}

func (v *node) len() int { return v.hi - v.lo }

// factor computes L.
func (v *node) factor(kmm blas64.General) error {
	for i := range v.len() {
		to := row(v.l, i)
		copy(to[:i+1], row(kmm, v.lo+i)[v.lo:v.lo+i+1])
		to[i] *= 1 + jitter
	}
	return factorize(v.l)
}

// place computes A and K_ii − ‖aᵢ‖² of the rows of the node.
func (v *node) place(p Problem) {
	n := v.to - v.from
	v.a, v.t, v.abar = sized(v.a, n, v.len()), sized(v.t, n, v.len()), sized(v.abar, n, v.len())
	v.mu, v.c, v.rest, v.knn = grown(v.mu, n), grown(v.c, n), grown(v.rest, n), grown(v.knn, n)
	for i := range n {
		copy(row(v.a, i), row(p.Knm, v.from+i)[v.lo:v.hi])
	}
	blas64.Trsm(blas.Right, blas.Trans, 1, lower(v.l), v.a)
	for i := range n {
		a := vector(row(v.a, i))
		v.rest[i] = max(p.Knn[v.from+i]-blas64.Dot(a, a), 0)
	}
}

// moments computes μ, c and T = A·R⁻ᵀ (eq. 16).
func (v *node) moments() {
	copyRows(v.t, v.a)
	blas64.Trsm(blas.Right, blas.Trans, 1, lower(v.r), v.t)
	for i := range v.c {
		t := vector(row(v.t, i))
		v.mu[i] = blas64.Dot(t, vector(v.w))
		v.c[i] = math.Sqrt(v.rest[i] + blas64.Dot(t, t) + v.mu[i]*v.mu[i])
	}
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
	v.moments()
	n, m := len(v.c), v.len()
	weight := rate * v.examples / float64(n)
	at := linalg.New64(m, n)
	for j := range m {
		v.eta[j] *= 1 - rate
	}
	for i, c := range v.c {
		s := math.Sqrt(polyagamma.Mean(1, c))
		for j, a := range row(v.a, i) {
			at.Data[j*n+i] = s * a
			v.eta[j] += weight * v.kappa(i) * a
		}
	}
	blas64.Syrk(blas.NoTrans, weight, at, 1-rate, symmetric(v.p))
	for j := range m {
		row(v.p, j)[j] += rate
	}
	return v.refresh()
}

// refresh derives R, w and Eu from the natural parameters.
func (v *node) refresh() error {
	copyRows(v.r, v.p)
	if err := factorize(v.r); err != nil {
		return err
	}
	copy(v.w, v.eta)
	r := lower(v.r)
	blas64.Trsv(blas.NoTrans, r, vector(v.w))
	copy(v.mean, v.w)
	blas64.Trsv(blas.Trans, r, vector(v.mean))
	return nil
}

// evaluate computes the loss, 0 of a node without rows.
func (v *node) evaluate() {
	v.loss = 0
	if v.from == v.to {
		return
	}
	v.moments()
	var fit float64
	for i, c := range v.c {
		fit += v.kappa(i)*v.mu[i] - c/2 - math.Log1p(math.Exp(-c))
	}
	v.loss = v.divergence()/v.examples - fit/float64(len(v.c))
}

// divergence returns KL(q(u)‖N(0, I)).
func (v *node) divergence() float64 {
	m := v.len()
	inverse := linalg.New64(m, m)
	copyRows(inverse, v.r)
	lapack64.Trtri(lower(inverse)) // cannot fail: the diagonal is positive
	var sum float64
	for i := range m {
		r := vector(row(inverse, i)[:i+1])
		sum += blas64.Dot(r, r) + v.mean[i]*v.mean[i] - 1 + 2*math.Log(row(v.r, i)[i])
	}
	return sum / 2
}

// differentiate turns abar into the gradient of K_nm, knn into that of K_ii, and
// kmm into that of K_mm.
func (v *node) differentiate() error {
	n, m := len(v.c), v.len()
	copyRows(v.abar, v.t)
	blas64.Trsm(blas.Right, blas.NoTrans, 1, lower(v.r), v.abar) // rows S·aᵢ
	at, gt := linalg.New64(m, n), linalg.New64(m, n)
	for i, c := range v.c {
		lambda := polyagamma.Mean(1, c)
		slope := v.kappa(i) - lambda*v.mu[i]
		a, g := row(v.a, i), row(v.abar, i)
		for j, sa := range g {
			g[j] = -(slope*v.mean[j] + lambda*(a[j]-sa)) / float64(n)
			at.Data[j*n+i], gt.Data[j*n+i] = a[j], g[j]
		}
		v.knn[i] = lambda / (2 * float64(n))
	}
	blas64.Trsm(blas.Right, blas.NoTrans, 1, lower(v.l), v.abar)
	return v.differentiateFactor(gt, at)
}

// differentiateFactor computes −sym(L⁻ᵀ Φ(ĀᵀA) L⁻¹) from the transposes of Ā
// and A; the diagonal of K_mm also answers for its jitter.
func (v *node) differentiateFactor(gt, at blas64.General) error {
	m := v.len()
	for first := 0; first < m; first += band {
		last := min(first+band, m)
		if err := (linalg.Gonum{}).Mul64(block(v.kmm, first, last, last), block(gt, first, last, gt.Cols), block(at, 0, last, at.Cols)); err != nil {
			return err
		}
	}
	for j := range m {
		r := row(v.kmm, j)
		r[j] /= 2
		clear(r[j+1:])
	}
	blas64.Trsm(blas.Left, blas.Trans, 1, lower(v.l), v.kmm)
	blas64.Trsm(blas.Right, blas.NoTrans, 1, lower(v.l), v.kmm)
	for i := range m {
		for j := range i {
			s := -(row(v.kmm, i)[j] + row(v.kmm, j)[i]) / 2
			row(v.kmm, i)[j], row(v.kmm, j)[i] = s, s
		}
		row(v.kmm, i)[i] *= -(1 + jitter)
	}
	return nil
}
