package gpr

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
	engine "github.com/seed-90d10d51/pipeline/gp/gpr"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// GPR is a one-vs-all Gaussian process regression head.
type GPR struct {
	cfg      Config
	products linalg.Backend // of batch fits
	fixed    float64        // τ that is not fitted, 0 to fit it
	model
}

// model is the fitted part; every change creates a new one.
type model struct {
	exemplars.Store
	reg *engine.Regression // nil before the base session
	tau float64
	chosen
}

// chosen holds the hyper-parameters in use.
type chosen struct {
	lengthscale, noise float64
	choice             *Choice // nil if they were given
}

var (
	_ classifier.Learner         = (*GPR)(nil)
	_ classifier.Forgetter       = (*GPR)(nil)
	_ classifier.SampleForgetter = (*GPR)(nil)
	_ classifier.Varier          = (*GPR)(nil)
	_ classifier.Saver           = (*GPR)(nil)
	_ classifier.BackendUser     = (*GPR)(nil)
	_ classifier.Unfitter        = (*GPR)(nil)
)

// New returns an unfitted head.
func New(cfg Config) (*GPR, error) {
	cfg = setting.OrDefault(cfg, DefaultConfig())
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &GPR{cfg: cfg, products: linalg.Backend{}}, nil
}

// Clone implements classifier.Cloner; it costs a copy of the state, O(n²).
func (h *GPR) Clone() (classifier.Learner, error) {
	return &GPR{cfg: h.cfg, products: h.products, fixed: h.fixed, model: *h.clone()}, nil
}

// Unfitted implements classifier.Unfitter: ℓ, σ² and τ are fixed to those of this head. Without the
// only wrong label of classes that are never confused, τ would be smaller by a factor of up to a
// thousand.
func (h *GPR) Unfitted() (classifier.Learner, error) {
	next := &GPR{cfg: h.cfg, products: h.products}
	if h.reg != nil {
		next.cfg.Lengthscale, next.cfg.Noise, next.fixed = h.lengthscale, h.noise, h.tau
	}
	return next, nil
}

// UseBackend implements classifier.BackendUser: batch fits multiply with m,
// predictions with gonum.
func (h *GPR) UseBackend(m linalg.Backend) {
	h.products = m
	if h.reg != nil {
		h.reg.UseBackend(m)
	}
}

// Temperature returns τ, 0 before the base session.
func (h *GPR) Temperature() float64 { return h.tau }

// Hyperparameters returns the ℓ and σ² in use, 0 before the base session.
func (h *GPR) Hyperparameters() (lengthscale, noise float64) { return h.lengthscale, h.noise }

// Learn implements classifier.Learner. The base session costs O(n²d + n³),
// later sessions of k examples O(knd + kn²) and a copy of the state. The error
// is a *TooManyError if there are more examples than the caps allow.
func (h *GPR) Learn(ctx context.Context, x blas32.General, y []string) error {
	next, err := h.learned(ctx, x, y)
	if err != nil {
		return fmt.Errorf("gpr: learn: %w", err)
	}
	h.model = *next
	return nil
}

func (h *GPR) learned(ctx context.Context, x blas32.General, y []string) (*model, error) {
	next := h.clone()
	scale := cmp.Or(h.cfg.Lengthscale, defaultLengthscale)
	x, groups, err := next.Frame.Session(x, y, h.Dim(), h.cfg.Normalize, scale)
	if err == nil {
		groups, err = h.limit(h.cfg, x, groups)
	}
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if next.reg == nil {
		if next.chosen, err = choose(ctx, h.cfg, h.products, x, groups); err != nil {
			return nil, err
		}
		if next.reg, err = next.unfitted(h.cfg, h.products); err != nil {
			return nil, err
		}
	}
	if err := next.add(ctx, h.cfg, x, groups); err != nil {
		return nil, err
	}
	return next, next.settle(ctx, h.fixed)
}

// kernel returns κ with the hyper-parameters in use. The linear kernel includes
// a constant, without which opposite embeddings would be equally novel.
func (c chosen) kernel(cfg Config) engine.Kernel {
	if cfg.Kernel == Linear {
		return engine.Linear{Outputscale: 0.5, Bias: 0.5}
	}
	return engine.RBF{Lengthscale: c.lengthscale, Outputscale: 1}
}

func (c chosen) regression(cfg Config) engine.Config {
	return engine.Config{Method: cfg.Update, Noise: c.noise}
}

// unfitted returns the regression with the hyper-parameters in use.
func (c chosen) unfitted(cfg Config, products linalg.Backend) (*engine.Regression, error) {
	r, err := engine.New(c.kernel(cfg), c.regression(cfg))
	if err == nil {
		r.UseBackend(products)
	}
	return r, err
}

// add adds the examples of a session.
func (m *model) add(ctx context.Context, cfg Config, x blas32.General, groups []classifier.Group) error {
	n, C := len(m.All.Own), len(m.All.Classes)
	m.All = m.All.With(x, groups)
	more := len(m.All.Classes) - C
	if more > 0 && n > 0 {
		if err := m.reg.AddOutputs(ctx, labels(make([]int, n), -1, more)); err != nil {
			return err
		}
	}
	z := classifier.Placed(m.All.X, dense.Range(n, len(m.All.Own)), cfg.Normalize)
	return m.reg.Add(ctx, z, labels(m.All.Own[n:], 0, len(m.All.Classes)))
}

// labels returns targets (n×C): 1 in the column of each example, shifted by
// shift and left out if that is negative, −1 elsewhere.
func labels(columns []int, shift, C int) blas64.General {
	t := blas64.General{Rows: len(columns), Cols: C, Stride: C, Data: slices.Repeat([]float64{-1}, len(columns)*C)}
	for i, c := range columns {
		if c+shift >= 0 {
			dense.Row(t, i)[c+shift] = 1
		}
	}
	return t
}

// settle completes the regression, and fits τ, unless it is fixed, to all examples by leaving each
// one out: an example that is alone in its class is skipped.
func (m *model) settle(ctx context.Context, fixed float64) error {
	m.reg.Fold()
	if fixed > 0 {
		m.tau = fixed
		return nil
	}
	var rows, own []int
	counts := m.All.Counts()
	for i, c := range m.All.Own {
		if counts[c] > 1 {
			rows, own = append(rows, i), append(own, c)
		}
	}
	loo, err := m.reg.LeaveOneOut(ctx)
	if err == nil {
		m.tau, err = fitTemperature(ctx, dense.Gather(loo, rows), own)
	}
	return err
}

// clone returns an independent model.
func (m *model) clone() *model {
	next := *m
	if m.reg != nil {
		next.reg = m.reg.Clone()
	}
	return &next
}
