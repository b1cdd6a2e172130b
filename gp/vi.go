package gp

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/polyagamma"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// VI is a binary classifier with a Gaussian q(f̄) at m inducing inputs. Steps
// change it; between steps it is safe for concurrent use.
type VI struct {
	l, inverse blas64.General // L and L⁻¹, K_mm with its jitter = LLᵀ
	jitter     float64        // added to the diagonal of K_mm: 0, or 1e-6 of its largest value
	relative   float64        // jitter relative to the diagonal, after Move
	eta        []float64      // h, whitened: P times the mean
	precision  blas64.General // P, whitened, ≥ I
	q          gaussian       // derived from eta and precision
	backend    linalg.Backend
}

// gaussian is q(u) in the form that predictions and bounds need.
type gaussian struct {
	mean []float64      // P⁻¹h
	root blas64.General // lower triangle, rootᵀ·root = P⁻¹
}

// NewVI returns a node for the kernel matrix at the inducing inputs (m×m, only
// read), with q set to the prior. Jitter is added to the diagonal only if the
// matrix is close to singular: see Jitter.
func NewVI(kmm blas64.General) (*VI, error) {
	if err := checkSquare(kmm); err != nil {
		return nil, fmt.Errorf("gp: vi: %w", err)
	}
	v := VIPrior(kmm.Rows, linalg.Backend{})
	var err error
	if v.l, v.jitter, err = firmFactor(kmm); err == nil {
		v.inverse = dense.Clone(v.l)
		err = linalg.InvertLower(linalg.Gonum{}, v.inverse)
	}
	if err != nil {
		return nil, fmt.Errorf("gp: vi: %w", err)
	}
	return v, nil
}

// VIPrior returns a node of m inducing inputs with q set to the prior. Move sets
// its kernel matrix.
func VIPrior(m int, on linalg.Backend) *VI {
	q := gaussian{mean: make([]float64, m), root: dense.Identity(m)}
	return &VI{eta: make([]float64, m), precision: dense.Identity(m), q: q, backend: on}
}

// movedJitter is the jitter on the diagonal of K_mm, relative to it, while the
// kernel is trained: the same for all matrices, so that the bound is smooth.
const movedJitter = 1e-6

// Move sets the kernel matrix (m×m, only read) after the inducing inputs or the
// kernel have changed. q(u) with u = L⁻¹f̄ stays as it is, and so does the
// divergence. Batches made before are no longer valid. After an error the node
// is unusable until another Move succeeds.
func (v *VI) Move(kmm blas64.General) error {
	if err := checkSquare(kmm); err != nil {
		return fmt.Errorf("gp: vi: %w", err)
	}
	if kmm.Rows != v.Len() {
		return fmt.Errorf("gp: vi: kernel matrix of %d×%d for %d inducing inputs", kmm.Rows, kmm.Cols, v.Len())
	}
	l := v.l // reuse the memory of the previous Move
	if v.relative == 0 {
		l, v.inverse = dense.New(v.Len(), v.Len()), dense.New(v.Len(), v.Len())
	}
	for i := range l.Rows {
		copy(dense.Row(l, i)[:i+1], dense.Row(kmm, i))
		dense.Row(l, i)[i] *= 1 + movedJitter
	}
	if !linalg.Factorize(v.raw(), l) {
		return fmt.Errorf("gp: vi: %w", &linalg.NotPSDError{Order: l.Rows, Jitter: movedJitter})
	}
	v.l, v.jitter, v.relative = l, 0, movedJitter
	dense.Copy(v.inverse, l)
	return linalg.InvertLower(v.raw(), v.inverse)
}

// LoadVI is NewVI with natural parameters returned by State.
func LoadVI(kmm blas64.General, eta []float64, precision blas64.General) (*VI, error) {
	v, err := NewVI(kmm)
	if err != nil {
		return nil, err
	}
	return v, v.Restore(eta, precision)
}

// Restore sets the natural parameters to those returned by State. On error
// nothing has changed.
func (v *VI) Restore(eta []float64, precision blas64.General) error {
	if err := dense.Valid(precision); err != nil {
		return fmt.Errorf("gp: vi: %w", err)
	}
	if len(eta) != v.Len() || precision.Rows != v.Len() || precision.Cols != v.Len() {
		return fmt.Errorf("gp: vi: natural parameters of %d and %d×%d for %d inducing inputs", len(eta), precision.Rows,
			precision.Cols, v.Len())
	}
	return v.set(slices.Clone(eta), dense.Clone(precision))
}

// set sets the natural parameters and everything derived from them.
func (v *VI) set(eta []float64, precision blas64.General) error {
	root := dense.Clone(precision)
	if !linalg.Factorize(v.raw(), root) {
		return fmt.Errorf("gp: vi: %w", &linalg.NotPSDError{Order: root.Rows})
	}
	mean := slices.Clone(eta)
	solve(root, mean)
	if err := linalg.InvertLower(v.raw(), root); err != nil {
		return fmt.Errorf("gp: vi: %w", err)
	}
	v.eta, v.precision, v.q = eta, precision, gaussian{mean, root}
	return nil
}

// On returns a copy of the node that uses m instead of gonum for fits and large
// predictions; v is unchanged.
func (v *VI) On(m linalg.Backend) *VI {
	next := *v
	next.backend = m
	return &next
}

// leastNative is the number of inducing inputs from which a library is faster in
// fits.
const leastNative = 48

// raw returns the kernels for products in fits.
func (v *VI) raw() linalg.Kernel {
	if v.Len() < leastNative {
		return linalg.Gonum{}
	}
	return v.backend.Raw()
}

// timesTrans writes a·bᵀ into dst on all cores; b has m columns.
func (v *VI) timesTrans(dst, a, b blas64.General) error {
	return linalg.EachPart(a.Rows, func(from, n int) error {
		return v.raw().Mul64(dense.Rows(dst, from, from+n), dense.Rows(a, from, from+n), b)
	})
}

// Len returns m.
func (v *VI) Len() int { return len(v.eta) }

// State returns the natural parameters h (m) and P (m×m) in whitened
// coordinates. The caller must not change them.
func (v *VI) State() (eta []float64, precision blas64.General) { return v.eta, v.precision }

// A Batch holds examples prepared for a VI. It is immutable.
type Batch struct {
	a     blas64.General // K_nm·L⁻ᵀ (n×m)
	rest  []float64      // Q_ii
	kappa []float64
	prior []float64 // m, nil for 0
}

// Around returns the batch under f ~ GP(m, k), given m at its examples (n), which it
// retains and which must not change. q and predictions are then those of f − m: the
// caller adds m at new inputs (Latent.Shift).
func (b *Batch) Around(mean []float64) (*Batch, error) {
	next := *b
	next.prior = mean
	return &next, checkMean(mean, len(b.kappa))
}

// Batch prepares examples from their covariances with the inducing inputs knm
// (n×m), prior variances knn (n) and labels.
func (v *VI) Batch(knm blas64.General, knn []float64, yes []bool) (*Batch, error) {
	if err := checkYes(knm.Rows, yes); err != nil {
		return nil, fmt.Errorf("gp: vi: %w", err)
	}
	if knm.Cols != v.Len() || len(knn) != knm.Rows {
		return nil, fmt.Errorf("gp: vi: %d×%d covariances and %d variances for %d inducing inputs", knm.Rows, knm.Cols,
			len(knn), v.Len())
	}
	b := &Batch{a: dense.New(knm.Rows, v.Len()), rest: slices.Clone(knn), kappa: halves(yes)}
	if err := v.timesTrans(b.a, dense.Clone(knm), v.inverse); err != nil {
		return nil, fmt.Errorf("gp: vi: %w", err)
	}
	for i := range b.rest {
		a := dense.Row(b.a, i)
		b.rest[i] = max(b.rest[i]-dense.Dot(a, a), 0)
	}
	return b, nil
}

// moments returns the mean of f of every example, and its c (eq. 16).
func (v *VI) moments(b *Batch) (mean, c []float64, err error) {
	l := Latent{Mean: dense.New(len(b.kappa), 1), Var: dense.New(len(b.kappa), 1)}
	copy(l.Var.Data, b.rest)
	project(l.Mean, 0, b.a, v.q.mean)
	if err := v.addSquares(l.Var, b.a); err != nil {
		return nil, nil, err
	}
	c = l.Var.Data
	for i, m := range b.prior {
		l.Mean.Data[i] += m
	}
	for i, m := range l.Mean.Data {
		c[i] = math.Sqrt(c[i] + m*m)
	}
	return l.Mean.Data, c, nil
}

// addSquares adds ‖root·row‖² for every row of a to dst (n×1). A library is
// fastest with whole matrices, zeros included.
func (v *VI) addSquares(dst, a blas64.General) error {
	raw := v.raw()
	if _, ok := raw.(linalg.Gonum); ok {
		return addSquares(linalg.Backend{}, dst, 0, 1, a, v.q.root)
	}
	return linalg.EachPart(a.Rows, func(from, n int) error {
		t := dense.New(n, a.Cols)
		if err := raw.Mul64(t, dense.Rows(a, from, from+n), v.q.root); err != nil {
			return fmt.Errorf("gp: vi: %w", err)
		}
		addLengths(dense.Rows(dst, from, from+n), 0, 1, t)
		return nil
	})
}

// Bound returns the lower bound of log p(y) in nats (eq. 13) with the best c,
// all constants included; scale is n/|B|.
func (v *VI) Bound(b *Batch, scale float64) (float64, error) {
	mean, c, err := v.moments(b)
	if err != nil {
		return 0, err
	}
	return scale*fit(b.kappa, mean, c) - v.divergence(), nil
}

// fit returns E[log p(y|ω, f)] − KL(q(ω)‖p(ω)) at c² = E f², where the terms in
// λ cancel and leave Σ κμ − log 2cosh(c/2).
func fit(kappa, mean, c []float64) float64 {
	var sum float64
	for i, k := range kappa {
		sum += k*mean[i] - c[i]/2 - math.Log1p(math.Exp(-c[i]))
	}
	return sum
}

// divergence returns KL(q(f̄)‖p(f̄)), which equals KL(q(u)‖N(0, I)).
func (v *VI) divergence() float64 {
	var sum float64
	for i, m := range v.q.mean {
		r := dense.Row(v.q.root, i)[:i+1]
		sum += dense.Dot(r, r) + m*m - 1 - 2*math.Log(r[i])
	}
	return sum / 2
}

// Step updates c of the batch and takes a natural-gradient step of rate ρ in
// 0 … 1 on q (eq. 16 and the corrected eq. 17); scale is n/|B|. On error
// nothing has changed.
func (v *VI) Step(b *Batch, scale, rate float64) error {
	if !(scale > 0 && scale < math.MaxFloat32) || !(rate > 0 && rate <= 1) {
		return fmt.Errorf("gp: vi: scale %g, rate %g: want n/|B| above 0 and a rate above 0, at most 1", scale, rate)
	}
	_, c, err := v.moments(b)
	if err != nil {
		return err
	}
	return v.step(b, c, scale, rate)
}

func (v *VI) step(b *Batch, c []float64, scale, rate float64) error {
	p, err := v.weighted(b.a, c)
	if err != nil {
		return fmt.Errorf("gp: vi: %w", err)
	}
	h := make([]float64, v.Len())
	blas64.Gemv(blas.Trans, rate*scale, b.a, dense.Vector(b.target(c)), 0, dense.Vector(h))
	for i := range h {
		h[i] += (1 - rate) * v.eta[i]
		old, fresh := dense.Row(v.precision, i), dense.Row(p, i)
		for j := range fresh {
			fresh[j] = (1-rate)*old[j] + rate*scale*fresh[j]
		}
		fresh[i] += rate
	}
	return v.set(h, p)
}

// target returns κ − Λm, the natural mean that an example gives to f − m.
func (b *Batch) target(c []float64) []float64 {
	if b.prior == nil {
		return b.kappa
	}
	t := slices.Clone(b.kappa)
	for i, m := range b.prior {
		t[i] -= polyagamma.Mean(1, c[i]) * m
	}
	return t
}

const (
	// weightedRows bounds the copies that weighted makes.
	weightedRows = 4096
	// leastScattered is the number of values from which Scatter uses a library.
	leastScattered = 1 << 16
)

// weighted returns AᵀΛA with λ = tanh(c/2)/(2c).
func (v *VI) weighted(a blas64.General, c []float64) (blas64.General, error) {
	sum := dense.New(a.Cols, a.Cols)
	_, gonum := v.raw().(linalg.Gonum)
	if !gonum && a.Rows*a.Cols < leastScattered {
		scaled := dense.New(a.Rows, a.Cols)
		for i := range a.Rows {
			blas64.Axpy(polyagamma.Mean(1, c[i]), dense.Vector(dense.Row(a, i)), dense.Vector(dense.Row(scaled, i)))
		}
		return sum, linalg.Plain64(v.raw(), sum, dense.Transposed(scaled), a)
	}
	solver := linalg.Solver{Backend: v.backend}
	for first := 0; first < a.Rows; first += weightedRows {
		scaled := dense.New(min(weightedRows, a.Rows-first), a.Cols)
		dense.Parallel(scaled.Rows, func(i int) {
			s, to := math.Sqrt(polyagamma.Mean(1, c[first+i])), dense.Row(scaled, i)
			for j, x := range dense.Row(a, first+i) {
				to[j] = s * x
			}
		})
		g, err := solver.Scatter(scaled)
		if err != nil {
			return sum, err
		}
		blas64.Axpy(1, dense.Vector(g.Data), dense.Vector(sum.Data))
	}
	return sum, nil
}

// Latent returns the moments of f − m (the corrected eq. 14) at q inputs from
// their covariances with the inducing inputs (q×m) and prior variances (q).
func (v *VI) Latent(rows blas64.General, prior []float64) (Latent, error) {
	l, err := newLatent(rows, slices.Clone(prior), v.Len(), 1)
	if err != nil || rows.Rows == 0 {
		return l, err
	}
	a := dense.New(rows.Rows, v.Len())
	if err := v.backend.MulTrans64(a, rows, v.inverse); err != nil {
		return l, fmt.Errorf("gp: predict: %w", err)
	}
	for i := range a.Rows {
		r := dense.Row(a, i)
		dense.Row(l.Var, i)[0] = max(prior[i]-dense.Dot(r, r), 0)
	}
	project(l.Mean, 0, a, v.q.mean)
	return l, addSquares(v.backend, l.Var, 0, 1, a, v.q.root)
}
