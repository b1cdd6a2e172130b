package aligned

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classtable"
	"github.com/seed-90d10d51/pipeline/classifier/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
)

// A Head is a linear classifier in the space of plda.
type Head struct {
	classtable.Exact[shared, class]
}

type model = classtable.Model[shared, class]

// shared holds what the base session sets, and the scorer of all classes.
type shared struct {
	// Rank and Rest are those of the space.
	Rank   int     `json:"rank"`
	Rest   float64 `json:"beta_rest"`
	space  *gauss.Space
	stack  *gauss.Stack
	weight blas64.General // C×d
	bias   []float64      // C, with the log-prior
}

// class is one class. It is never changed, only replaced.
type class struct {
	moments.Total
	base    bool      // of the first session
	logit   []float64 // its row of the classifier: d weights and a constant
	density *gauss.Density
}

var (
	_ classifier.Exporter = (*Head)(nil)
	_ gauss.Spacer        = (*Head)(nil)
)

// New returns an unfitted head. The first session is the base session: its
// classes stay base classes, even if they gain more examples.
func New(cfg Config) (*Head, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Head{classtable.NewExact(classtable.Method[shared, class]{
		Name: name, Config: cfg, Unit: true,
		Base: cfg.base,
		Fit: func(m *model, old class, change classtable.Change) (class, error) {
			total, err := change.Total(old.Total)
			return class{Total: total, base: old.base || !m.Fitted(), logit: old.logit}, err
		},
		Settle:  settle,
		Rescore: cfg.rescore,
		Scoring: func(m *model) classifier.Scoring {
			return classifier.Scoring{Scores: m.Shared.scores, Novelty: func(scores []float64) float64 { return -slices.Max(scores[len(scores)/2:]) }}
		},
		Count:  func(c class) int { return c.N },
		Fields: fields,
		Encode: func(m *model) map[string]classifier.Tensor { return m.Shared.space.Tensors() },
		Decode: decode,
	})}, nil
}

// base computes the space.
func (c Config) base(ctx context.Context, m *model, s *moments.Session) error {
	basis, err := gauss.Fit(ctx, m.Backend, s, s.Totals())
	if err != nil {
		return err
	}
	sp, err := basis.Space(c.Epsilon)
	if err != nil {
		return err
	}
	m.Shared.space, m.Shared.Rank, m.Shared.Rest = sp, len(sp.Beta), sp.Rest
	return nil
}

// settle trains the classifier: the base classes once, on the base session, and
// all later classes again whenever a class changes.
func settle(ctx context.Context, m *model, s *moments.Session, known int) error {
	m.Shared.space = m.Shared.space.On(m.Backend)
	classes := m.Classes.Values()
	// Sums are in the order of the names, so that a class that is forgotten and
	// learned again gets the same weights to the last bit.
	order := dense.Range(0, len(classes))
	names := m.Classes.Names()
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(names[a], names[b]) })
	totals := make([]moments.Total, len(order))
	base := make([]bool, len(order))
	for i, column := range order {
		totals[i], base[i] = classes[column].Total, classes[column].base
	}
	var rows blas64.General
	var err error
	if known == 0 {
		rows, err = fitBase(ctx, m.Shared.space, s, totals)
	} else {
		logits := make([][]float64, len(order))
		for i, column := range order {
			logits[i] = classes[column].logit
		}
		rows, err = fitLater(ctx, m.Shared.space, totals, base, logits)
	}
	if err != nil {
		return err
	}
	next := 0
	for i, column := range order {
		if known == 0 || !base[i] {
			classes[column].logit = dense.Row(rows, next)
			next++
		}
	}
	return nil
}

// densities returns the predictive densities of plda.
func densities(sp *gauss.Space, totals []moments.Total) ([]*gauss.Density, error) {
	white, err := sp.Means(totals)
	if err != nil {
		return nil, err
	}
	models := make([]gauss.Class, len(totals))
	for i, t := range totals {
		models[i] = gauss.Class{N: t.N, Mean: dense.Row(white, i), Noise: 1}
	}
	return sp.Densities(models)
}

// rescore computes the densities of changed classes and stacks all classes.
func (c Config) rescore(m *model, changed []int) error {
	sh, classes := &m.Shared, m.Classes.Values()
	sh.space = sh.space.On(m.Backend)
	totals := make([]moments.Total, len(changed))
	for i, column := range changed {
		totals[i] = classes[column].Total
	}
	fitted, err := densities(sh.space, totals)
	if err != nil {
		return err
	}
	for i, column := range changed {
		classes[column].density = fitted[i]
	}
	sh.stack = gauss.StackOf(sh.space, classes, func(c *class) **gauss.Density { return &c.density })
	sh.weight, sh.bias = dense.New(len(classes), m.Dim), make([]float64, len(classes))
	prior := c.logPrior(classes)
	for i, c := range classes {
		copy(dense.Row(sh.weight, i), c.logit)
		sh.bias[i] = c.logit[m.Dim] + prior[i]
	}
	return nil
}

// logPrior returns what is added to the scores, which are those of equally
// likely classes: log(s/C₀) for the C₀ base classes and log((1−s)/C₁) for the
// C₁ later ones, where s is the expected share of base classes.
func (c Config) logPrior(classes []class) []float64 {
	prior := make([]float64, len(classes))
	base := 0
	for _, k := range classes {
		if k.base {
			base++
		}
	}
	later := len(classes) - base
	if c.BaseShare == 0 || base == 0 || later == 0 {
		return prior
	}
	for i, k := range classes {
		prior[i] = math.Log((1 - c.BaseShare) / float64(later))
		if k.base {
			prior[i] = math.Log(c.BaseShare / float64(base))
		}
	}
	return prior
}

// scores returns for a few rows the scores of all classes, followed by their
// log-densities (n×2C), in O(d² + Cd) per row.
func (sh *shared) scores(x blas32.General) (blas64.General, error) {
	white, err := sh.space.Whitened(classifier.Placed(x, dense.Range(0, x.Rows), true))
	if err != nil {
		return white, err
	}
	C := len(sh.bias)
	out := dense.New(x.Rows, 2*C)
	if err := sh.space.Backend().MulTrans64(dense.View(out, 0, 0, x.Rows, C), white, sh.weight); err != nil {
		return out, err
	}
	for i := range x.Rows {
		blas64.Axpy(1, dense.Vector(sh.bias), dense.Vector(dense.Row(out, i)[:C]))
	}
	density, err := sh.stack.LogDensities(white)
	if err == nil {
		dense.Copy(dense.View(out, 0, C, x.Rows, C), density)
	}
	return out, err
}

// Space implements gauss.Spacer.
func (h *Head) Space() *gauss.Space { return h.Model().Shared.space }

// Export implements classifier.Exporter.
func (h *Head) Export(g *onnx.Graph, x string) (string, error) {
	if err := h.CheckFitted("export"); err != nil {
		return "", err
	}
	s := h.Model().Shared
	white := s.space.WhitenedGraph(g, classifier.PlacedGraph(g, x, true))
	linear := classifier.MulTransGraph(g, white, s.weight.Data, s.weight.Rows, s.weight.Cols)
	return classifier.LogSoftmaxGraph(g, g.Op("Add", linear, g.Float64s(s.bias, len(s.bias)))), nil
}

// fields describes the tensors of a class: those of its total, "base" (1 or 0)
// and "logits" (d+1).
func fields(c *classifier.Codec, m *model, class *class) {
	class.Total.Fields(c, m.Dim)
	c.Bool("base", &class.base)
	c.Rows64("logits", &class.logit, 1, m.Dim+1)
}

func decode(m *model, s classifier.State, _ int) (err error) {
	sh := &m.Shared
	if sh.space, err = gauss.LoadSpace(s, m.Dim, sh.Rank, sh.Rest); err != nil {
		return fmt.Errorf("space: %w", err)
	}
	return nil
}

// Load returns the head that Save described.
func Load(s classifier.State) (*Head, error) { return classtable.Load(name, s, New) }
