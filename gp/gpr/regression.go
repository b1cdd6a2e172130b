package gpr

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Regression is a set of Gaussian process regressions on the same n inputs,
// one for each of C outputs. Methods that only read it are safe for concurrent
// use while nothing changes it. A method that returns an error leaves it
// unchanged, also the error of a context that is cancelled: all work on n² numbers
// looks at it.
type Regression struct {
	cfg      Config
	kernel   Kernel
	products linalg.Backend // of batch fits
	x        inputs         // n×d
	t        blas64.General // C×n targets
	alpha    blas64.General // C×n, (K+σ²I)⁻¹t
	solver   solver
	diag     []float64 // of the inverse; nil until first needed
	logDet   float64   // of K+σ²I

	watch
}

// New returns a regression without examples and outputs.
func New(kernel Kernel, cfg Config) (*Regression, error) {
	cfg = setting.OrDefault(cfg, DefaultConfig())
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Regression{cfg: cfg, kernel: kernel, products: linalg.Backend{},
		solver: solverOf(cfg.Method, &triangle{}, nil, linalg.Gonum{})}, nil
}

// UseBackend sets the backend for batch fits and for folding corrections into an
// inverse. The default is gonum, which computes all other products.
func (r *Regression) UseBackend(m linalg.Backend) {
	r.products = m
	if w, ok := r.solver.(*woodbury); ok {
		w.raw = m.Raw()
	}
}

// Len returns n, the number of examples.
func (r *Regression) Len() int { return r.x.Rows }

// Dim returns d, the number of values of an input, or 0 before the first example.
func (r *Regression) Dim() int { return r.x.Cols }

// Outputs returns C, the number of outputs.
func (r *Regression) Outputs() int { return r.t.Rows }

// Alpha returns α = (K+σ²I)⁻¹t (C×n); the caller must not change it.
func (r *Regression) Alpha() blas64.General { return r.alpha }

// Bytes returns the memory used by the regression: 4n² for the inverse or factor,
// 8n(d+1) for the inputs, 16nC for targets and weights, and a little more.
func (r *Regression) Bytes() int {
	return r.solver.bytes() + r.x.bytes() + 8*(cap(r.t.Data)+cap(r.alpha.Data)+cap(r.diag))
}

// Clone returns an independent copy.
func (r *Regression) Clone() *Regression {
	c := *r
	c.x, c.t, c.alpha = r.x.clone(), dense.Clone(r.t), dense.Clone(r.alpha)
	c.solver, c.diag = r.solver.clone(), slices.Clone(r.diag)
	return &c
}

// Add appends examples: inputs x (k×d) with targets t (k×C). The first examples
// cost a batch fit, O(n²d + n³); later ones cost O(knd + k(n+k)² + k³), or
// another batch fit if there are so many that it is faster. The error wraps a
// *NotPSDError if an example adds nothing new and σ² is too small to separate it
// from the others.
func (r *Regression) Add(ctx context.Context, x, t blas64.General) error {
	if err := r.checkExamples(x, t); err != nil {
		return fmt.Errorf("add: %w", err)
	}
	if x.Rows == 0 {
		return nil
	}
	if r.Len() == 0 {
		return wrap("add", r.fit(ctx, measured(dense.Clone(x)), dense.Transposed(t)))
	}
	all := r.x.with(x) // appends beyond the rows of r.x, which stay valid on error
	if r.solver.outgrown(x.Rows, r.products.Raw()) {
		targets := withColumns(r.t, x.Rows) // r.t stays valid on error too
		setColumns(targets, dense.Range(r.Len(), all.Rows), t)
		return wrap("add", r.fit(ctx, all, targets))
	}
	b, err := r.kernelRows(ctx, all, dense.Range(r.Len(), all.Rows))
	if err != nil {
		return fmt.Errorf("add: %w", err)
	}
	u, err := r.solver.add(ctx, b)
	if err != nil {
		return wrap("add", err)
	}
	n := r.Len()
	r.x = all
	r.t, r.alpha = withColumns(r.t, x.Rows), withColumns(r.alpha, x.Rows)
	if r.diag != nil {
		r.diag = append(r.diag, make([]float64, x.Rows)...)
	}
	setColumns(r.t, dense.Range(n, all.Rows), t)
	r.apply(u)
	r.look(ctx)
	return nil
}

// clipped limits the data of m to its rows, so that appending cannot overwrite
// the memory behind them.
func clipped(m blas64.General) blas64.General {
	m.Data = m.Data[:m.Rows*m.Stride]
	return m
}

// AddOutputs appends outputs with targets t (n×c): O(cn²).
func (r *Regression) AddOutputs(ctx context.Context, t blas64.General) error {
	if t.Rows != r.Len() || t.Rows == 0 {
		return fmt.Errorf("add outputs: targets of %d examples, there are %d", t.Rows, r.Len())
	}
	if err := checkMatrix(t); err != nil {
		return fmt.Errorf("add outputs: %w", err)
	}
	targets := dense.Transposed(t)
	alpha := dense.Clone(targets)
	if err := r.solver.solve(ctx, alpha); err != nil {
		return fmt.Errorf("add outputs: %w", err)
	}
	r.t, r.alpha = stacked(r.t, targets), stacked(r.alpha, alpha)
	return nil
}

// stacked puts b below a.
func stacked(a, b blas64.General) blas64.General {
	if a.Rows == 0 {
		return b
	}
	return withRows(clipped(a), b)
}

// RemoveOutputs drops outputs.
func (r *Regression) RemoveOutputs(outputs []int) error {
	gone, err := indices("output", outputs, r.Outputs())
	if err != nil {
		return fmt.Errorf("remove outputs: %w", err)
	}
	r.t, r.alpha = withoutRows(dense.Clone(r.t), gone), withoutRows(dense.Clone(r.alpha), gone)
	return nil
}

// SetTargets replaces the targets of examples by t (k×C), which does not affect
// the inverse: O(kn²).
func (r *Regression) SetTargets(ctx context.Context, examples []int, t blas64.General) error {
	_, err := indices("example", examples, r.Len())
	if err == nil && (t.Rows != len(examples) || t.Cols != r.Outputs()) {
		err = fmt.Errorf("targets of %d×%d for %d examples and %d outputs", t.Rows, t.Cols, len(examples), r.Outputs())
	}
	if err == nil {
		err = checkMatrix(t)
	}
	if err != nil {
		return fmt.Errorf("set targets: %w", err)
	}
	change := dense.New(r.Outputs(), r.Len())
	setColumns(change, examples, t)
	for c := range change.Rows {
		for _, e := range examples {
			change.Data[c*change.Stride+e] -= r.t.Data[c*r.t.Stride+e]
		}
	}
	if err := r.solver.solve(ctx, change); err != nil {
		return fmt.Errorf("set targets: %w", err)
	}
	setColumns(r.t, examples, t)
	for c := range change.Rows {
		axpy(1, dense.Row(change, c), dense.Row(r.alpha, c))
	}
	r.look(ctx)
	return nil
}

// SetInputs replaces the inputs of examples by x (k×d): O(knd + kn² + k³).
func (r *Regression) SetInputs(ctx context.Context, examples []int, x blas64.General) error {
	rows, err := indices("example", examples, r.Len())
	if err == nil && (x.Rows != len(examples) || x.Cols != r.Dim()) {
		err = fmt.Errorf("inputs of %d×%d for %d examples of %d values", x.Rows, x.Cols, len(examples), r.Dim())
	}
	if err == nil {
		err = checkMatrix(x)
	}
	if err != nil {
		return fmt.Errorf("set inputs: %w", err)
	}
	if len(rows) == 0 {
		return nil
	}
	old := dense.Gather(r.x.General, examples)
	for i, e := range examples {
		r.x.set(e, dense.Row(x, i))
	}
	if err := r.refresh(ctx, rows); err != nil {
		for i, e := range examples {
			r.x.set(e, dense.Row(old, i))
		}
		return wrap("set inputs", err)
	}
	r.look(ctx)
	return nil
}

// refresh updates the state after the inputs of examples have changed.
func (r *Regression) refresh(ctx context.Context, rows []int) error {
	if r.solver.refit(len(rows)) {
		return r.fit(ctx, r.x, r.t)
	}
	// For pairs of changed examples both inputs are new, unlike in eqs. 8 and 9.
	b, err := r.kernelRows(ctx, r.x, rows)
	if err != nil {
		return err
	}
	u, err := r.solver.replace(ctx, rows, b)
	if err != nil {
		return err
	}
	r.apply(u)
	return nil
}

// Remove drops examples; those after them move up: O(kn² + k³).
func (r *Regression) Remove(ctx context.Context, examples []int) error {
	rows, err := indices("example", examples, r.Len())
	if err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	if len(rows) == 0 {
		return nil
	}
	if len(rows) == r.Len() || r.solver.refit(len(rows)) {
		x, t := r.x.clone().without(rows), withoutColumns(dense.Clone(r.t), rows)
		return wrap("remove", r.fit(ctx, x, t))
	}
	u, err := r.solver.remove(ctx, rows)
	if err != nil {
		return wrap("remove", err)
	}
	r.apply(u)
	r.x = r.x.without(rows)
	r.t, r.alpha = withoutColumns(r.t, rows), withoutColumns(r.alpha, rows)
	if r.diag != nil {
		r.diag = without(r.diag[:0], r.diag, rows)
	}
	r.look(ctx)
	return nil
}

// apply updates α, the diagonal and the determinant to match the inverse:
// α += ∓y(yᵀt), at low rank.
func (r *Regression) apply(u update) {
	r.logDet += u.logDet
	for _, c := range []correction{{u.minus, -1}, {u.plus, 1}} {
		if c.y.Rows == 0 {
			continue
		}
		r.correctAlpha(c)
		if r.diag != nil {
			for i, sq := range squares(c.y) {
				r.diag[i] += c.sign * sq
			}
		}
	}
}

// correctAlpha computes α += sign·y(yᵀt).
func (r *Regression) correctAlpha(c correction) {
	if c.y.Cols == 1 && c.y.Stride == 1 {
		dense.Parallel(r.Outputs(), func(i int) {
			axpy(c.sign*dense.Dot(dense.Row(r.t, i), c.y.Data), c.y.Data, dense.Row(r.alpha, i))
		})
		return
	}
	y := dense.Transposed(c.y)
	weights := dense.New(r.Outputs(), y.Rows)
	subtract(weights, r.t, y)
	dense.Parallel(r.Outputs(),
		func(i int) { addTo(dense.Row(r.alpha, i), correction{c.y, -c.sign}, dense.Row(weights, i)) })
}

// fit replaces the whole state by a batch fit. It retains x and t.
func (r *Regression) fit(ctx context.Context, x inputs, t blas64.General) error {
	s, logDet := solverOf(r.cfg.Method, &triangle{}, nil, linalg.Gonum{}), 0.0
	if x.Rows == 0 {
		x, t = inputs{}, blas64.General{}
	} else {
		tr := newTriangle(x.Rows)
		err := gram(ctx, r.products, tr, r.kernel, x, r.cfg.Noise)
		if err == nil {
			s, logDet, err = newSolver(ctx, r.cfg.Method, tr, r.products.Raw())
		}
		if err != nil {
			return err
		}
	}
	alpha := dense.Clone(t)
	if err := solveOn(ctx, r.products.Raw(), s, alpha); err != nil {
		return err
	}
	r.x, r.t, r.alpha, r.solver, r.logDet, r.diag = x, t, alpha, s, logDet, nil
	r.watch = watch{}
	return nil
}

// kernelRows returns K+σ²I between examples of all inputs and all of them.
func (r *Regression) kernelRows(ctx context.Context, all inputs, examples []int) (blas64.General, error) {
	b := dense.New(len(examples), all.Rows)
	for first := 0; first < b.Rows; first += side {
		if err := ctx.Err(); err != nil {
			return b, err
		}
		part := rowsOf(b, first, min(side, b.Rows-first))
		if err := r.kernel.block(linalg.Backend{}, part, all.pick(examples[first:][:part.Rows]), all); err != nil {
			return b, err
		}
	}
	for i, e := range examples {
		row := dense.Row(b, i)
		row[e] += r.cfg.Noise
		if err := finite(row); err != nil {
			return b, fmt.Errorf("example %d: %w", e, err)
		}
	}
	return b, nil
}

// setColumns writes the rows of t (k×C) into columns of m (C×n).
func setColumns(m blas64.General, columns []int, t blas64.General) {
	for i, e := range columns {
		for c, v := range dense.Row(t, i) {
			m.Data[c*m.Stride+e] = v
		}
	}
}

func wrap(operation string, err error) error {
	var singular *NotPSDError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &singular):
		return fmt.Errorf("%s: K+σ²I: %w; raise the noise σ²", operation, err)
	}
	return fmt.Errorf("%s: %w", operation, err)
}
