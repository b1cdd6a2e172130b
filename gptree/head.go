package gptree

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// GPTree is the classifier: a Gaussian process at every split of a tree over
// the classes.
type GPTree struct {
	exemplars.Store // of embeddings or inducing inputs

	cfg    Config
	fitted variational // none under Gibbs
	// base is the head of the mean after the sessions fitted by VI, nil if there are
	// none or the mean is zero, and temperature is its T.
	base        classifier.Learner
	temperature float64
	// like is a head of the mean whose settings the base session takes, nil if that
	// chooses them.
	like   classifier.Learner
	choice *Choice // of the root; nil without calibration
	model  *model  // nil before the base session
	mul    linalg.Backend
}

var (
	_ classifier.Learner         = (*GPTree)(nil)
	_ classifier.Forgetter       = (*GPTree)(nil)
	_ classifier.SampleForgetter = (*GPTree)(nil)
	_ classifier.Hierarchical    = (*GPTree)(nil)
	_ classifier.Varier          = (*GPTree)(nil)
	_ classifier.Saver           = (*GPTree)(nil)
	_ classifier.Describer       = (*GPTree)(nil)
	_ classifier.BackendUser     = (*GPTree)(nil)
	_ classifier.Unfitter        = (*GPTree)(nil)
	_ classifier.Counting        = (*GPTree)(nil)
	_ classifier.Doubting        = (*GPTree)(nil)
	_ classifier.Guided          = (*GPTree)(nil)
)

// New returns an unfitted classifier.
func New(cfg Config) (*GPTree, error) {
	cfg = setting.OrDefault(cfg, DefaultConfig())
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &GPTree{cfg: cfg}, nil
}

// Unfitted implements classifier.Unfitter: the settings of the mean and the root are
// fixed to those that this classifier chose. T and whether a residual pays are not.
func (h *GPTree) Unfitted() (classifier.Learner, error) {
	next := &GPTree{cfg: h.cfg, choice: h.choice, like: h.base, mul: h.mul}
	if next.like == nil && h.model != nil && h.model.mean != nil {
		next.like = h.model.mean.head
	}
	return next, nil
}

// Clone implements classifier.Cloner: the two share all that never changes, not the
// heads of the mean, whose backend does.
func (h *GPTree) Clone() (classifier.Learner, error) {
	next := *h
	if h.model == nil || h.model.mean == nil {
		return &next, nil
	}
	fitted, m := *h.model, *h.model.mean
	next.model, fitted.mean = &fitted, &m
	var err error
	if m.head, err = cloned(h.model.mean.head); err != nil {
		return nil, err
	}
	if next.base = m.head; h.base != h.model.mean.head {
		next.base, err = cloned(h.base)
	}
	return &next, err
}

// UseBackend implements classifier.BackendUser.
func (h *GPTree) UseBackend(m linalg.Backend) {
	h.mul = m
	if h.model == nil {
		return
	}
	if h.model.mean != nil {
		classifier.UseBackend(h.model.mean.head, m)
		if h.base != nil && h.base != h.model.mean.head {
			classifier.UseBackend(h.base, m)
		}
	}
	if on, err := h.model.on(m); err == nil { // it was fitted before, so this cannot fail
		h.model = on
	}
}

// Counting implements classifier.Counting. With a mean, the mean decides, which
// does not count; and of classes of two, its temperature could not be fitted in folds
// that leave one of every class.
func (h *GPTree) Counting() bool { return h.cfg.Mean == MeanZero }

// Spread implements classifier.Doubting: it is that of the mean.
func (h *GPTree) Spread(n int) float64 {
	if h.model != nil && h.model.mean != nil {
		if head, ok := h.model.mean.head.(classifier.Doubting); ok {
			return head.Spread(n)
		}
	}
	return 1
}

// Tree returns the tree over the classes and the class of every leaf, or nil
// before the base session.
func (h *GPTree) Tree() (tree *Tree, leaves []string) {
	if h.model == nil {
		return nil, nil
	}
	for _, c := range h.model.column {
		leaves = append(leaves, h.Classes()[c])
	}
	return h.model.tree, leaves
}

// Learn implements classifier.Learner. See the package comment for the cost of
// the base session; a later session refits the nodes of the novel classes and
// the root, and leaves the base unchanged. Under VI, a later session with more
// than Config.MaxPerClass examples of a class is fitted like the base session
// and joined by a root. Classes of such sessions take no more examples: the
// error wraps classifier.ErrUnsupported.
func (h *GPTree) Learn(ctx context.Context, x blas32.General, y []string) error {
	next := *h
	x, groups, err := next.Frame.Session(x, y, h.Dim(), h.cfg.Normalize, h.cfg.Lengthscale)
	if err == nil {
		err = next.take(ctx, x, groups)
	}
	if err == nil {
		err = h.finish(ctx, &next, x, y)
	}
	if err != nil {
		return fmt.Errorf("gptree: learn: %w", err)
	}
	return nil
}

// finish fits the model of next, which has the session (x, y), after calibrating
// it if that is the base session, and then sets h to next.
func (h *GPTree) finish(ctx context.Context, next *GPTree, x blas32.General, y []string) error {
	if h.model == nil && h.choice == nil && h.cfg.Calibrate {
		if err := next.calibrate(ctx, x, y); err != nil {
			return err
		}
	}
	if err := next.refit(ctx); err != nil {
		return err
	}
	*h = *next
	return nil
}

// take adds a session to the table. Under VI, new classes become inducing inputs
// if the session is the first or too large for Gibbs nodes.
func (h *GPTree) take(ctx context.Context, x blas32.General, groups []classifier.Group) error {
	session, counts := h.All.NextSession(), h.All.Counts()
	var old, fresh []classifier.Group
	large := session == baseSession
	for _, g := range groups {
		c := slices.Index(h.All.Classes, g.Class)
		if c < 0 {
			fresh, large = append(fresh, g), large || len(g.Rows) > h.cfg.MaxPerClass
			continue
		}
		if h.isVariational(c) {
			return fmt.Errorf("class %q belongs to a session whose examples are not stored: learn that session "+
				"again, or use base gibbs: %w", g.Class, classifier.ErrUnsupported)
		}
		if err := h.fits(g.Class, counts[c]+len(g.Rows)); err != nil {
			return err
		}
		old = append(old, g)
	}
	h.All = h.All.With(x, old)
	if large && h.cfg.Base == BaseVI && len(fresh) > 0 { // inducing inputs stand for them
		rows := exemplars.Table{}.With(x, fresh).ByClass()
		b, points, err := startVI(ctx, h.cfg, session, x.Cols, rows)
		if err != nil {
			return err
		}
		return h.takeVI(ctx, b, x.Cols, rows, points)
	}
	for _, g := range fresh {
		if err := h.fits(g.Class, len(g.Rows)); err != nil {
			return err
		}
	}
	h.All = h.All.With(x, fresh)
	return nil
}

// takeVI fits a session by VI to the given examples, and adds its inducing inputs
// to the table.
func (h *GPTree) takeVI(ctx context.Context, b *vi, dim int, rows, points map[string]exemplars.Rows) error {
	var mu *mean
	var s seen
	if h.cfg.Mean != MeanZero {
		x, y := stacked(b.classes, rows, dim)
		base, err := h.meanHeads().learned(ctx, h.base, h.like, x, y)
		if err == nil {
			s, err = h.meanHeads().leaveOut(ctx, h.base, base, x, y)
		}
		if err != nil {
			return err
		}
		if h.base == nil {
			h.temperature = s.temperature()
		}
		h.base = base
		mu = &mean{base, h.temperature}
	}
	if err := b.fit(ctx, h.cfg, dim, rows, points, h.mul, mu, s); err != nil {
		return err
	}
	x, y := stacked(b.classes, points, dim)
	h.All, h.fitted = h.All.With(x, classifier.GroupByClass(y)), append(slices.Clone(h.fitted), b)
	return nil
}

// stacked returns the rows of some classes, class after class, and their classes.
func stacked(classes []string, rows map[string]exemplars.Rows, dim int) (x blas32.General, y []string) {
	x = blas32.General{Cols: dim, Stride: dim}
	for _, name := range classes {
		x.Data = append(x.Data, slices.Concat(rows[name]...)...)
		y = append(y, slices.Repeat([]string{name}, len(rows[name]))...)
	}
	x.Rows = len(y)
	return x, y
}

// fits returns an error if a class would have too many examples.
func (h *GPTree) fits(name string, n int) error {
	if n > h.cfg.MaxPerClass {
		return fmt.Errorf("class %q would have %d examples, and Gibbs nodes take %d per class (max_per_class): "+
			"give it fewer, raise the bound, or learn all of them in one session with "+
			"base vi", name, n, h.cfg.MaxPerClass)
	}
	return nil
}

// isVariational reports whether only inducing inputs of class c are stored.
func (h *GPTree) isVariational(c int) bool { return h.fitted.of(h.All.Sessions[c]) != nil }

// refit fits the model of the table.
func (h *GPTree) refit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	cfg := h.effective()
	from := sources{trees: built(ctx, cfg, h.All), nodes: sampled(ctx, cfg, h.mul)}
	if cfg.Mean == MeanZero {
		var err error
		h.model, err = assembleModel(cfg, h.All, h.fitted, nil, h.mul, from)
		return err
	}
	mu, s, err := h.around(ctx)
	if err != nil {
		return err
	}
	from.off = func(int) bool { return !slices.Contains(s.left, true) }
	from.means = s.at
	if h.model, err = assembleModel(cfg, h.All, h.fitted, mu, h.mul, from); err != nil {
		return err
	}
	return h.model.judge(s)
}

// around returns the mean of all classes, and the stored examples that it has seen.
func (h *GPTree) around(ctx context.Context) (*mean, seen, error) {
	var stored []string
	for c, name := range h.All.Classes {
		if !h.isVariational(c) {
			stored = append(stored, name)
		}
	}
	slices.Sort(stored)
	if len(stored) == 0 {
		return &mean{h.base, h.temperature}, seen{}, nil
	}
	x, y := stacked(stored, h.All.ByClass(), h.Dim())
	full, err := h.meanHeads().learned(ctx, h.base, h.like, x, y)
	if err != nil {
		return nil, seen{}, err
	}
	s, err := h.meanHeads().leaveOut(ctx, h.base, full, x, y)
	if err == nil && h.base == nil {
		h.temperature = s.temperature()
	}
	return &mean{full, h.temperature}, s, err
}

// Forget implements classifier.Forgetter. A class of a session fitted by VI
// cannot be removed from its nodes: the error wraps classifier.ErrUnsupported.
func (h *GPTree) Forget(name string) error {
	if err := h.stored(name); err != nil {
		return fmt.Errorf("gptree: forget: %w", err)
	}
	return exemplars.Forget("gptree", h.All, name, h.drop)
}

// ForgetSamples implements classifier.SampleForgetter, with the same limit.
func (h *GPTree) ForgetSamples(x blas32.General, y []string) error {
	if err := h.stored(y...); err != nil {
		return fmt.Errorf("gptree: forget samples: %w", err)
	}
	return exemplars.ForgetSamples("gptree", h.All, h.Frame.Of(x), y, h.drop)
}

// stored returns an error if the examples of a class are not stored.
func (h *GPTree) stored(classes ...string) error {
	for c, name := range h.All.Classes {
		if h.isVariational(c) && slices.Contains(classes, name) {
			return fmt.Errorf("class %q is part of a session fitted by VI, and its examples are not stored; "+
				"learn that session again without it: %w", name, classifier.ErrUnsupported)
		}
	}
	return nil
}

// drop refits without some examples; with none left, the head becomes unfitted.
func (h *GPTree) drop(rows []int) error {
	next := *h
	if next.All, _ = h.All.Without(rows); len(next.All.Classes) == 0 {
		*h = GPTree{cfg: h.cfg, mul: h.mul}
		return nil
	}
	if err := next.refit(context.Background()); err != nil {
		return err
	}
	*h = next
	return nil
}

// Score implements classifier.Head (eq. 9). The novelty is that of the head of the
// mean; if the mean is zero, it is the variance of the latent function relative to
// its prior variance, averaged over the path to the most probable class, root
// included, and 0 with a single class.
func (h *GPTree) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	return classifier.Scoring{
		Method: "gptree", Head: h,
		Scores:  func(x blas32.General) (blas64.General, error) { return h.model.predict(h.Frame.Of(x)) },
		LogProb: func(dst, scores []float64) { copy(dst, scores) },
		Novelty: func(scores []float64) float64 { return scores[len(scores)-1] },
	}.Score(dst, novelty, x)
}

// Variance implements classifier.Varier. It is the novelty: the tree has no
// variance over all classes, only one per node. If the mean is zero, values are
// shares of the prior variance, 0 to 1.
func (h *GPTree) Variance(dst []float64, x blas32.General) error {
	classes := max(1, len(h.Classes()))
	return h.Score(dense.New(x.Rows, classes), dst, x)
}

// Hierarchy implements classifier.Hierarchical.
func (h *GPTree) Hierarchy() classifier.Branch {
	tree, leaves := h.Tree()
	if tree == nil || tree.Classes() == 0 {
		return classifier.Branch{}
	}
	// From the last node to the first, so that children come before parents.
	branches := make([]classifier.Branch, len(tree.nodes))
	for i := len(tree.nodes) - 1; i >= 0; i-- {
		if n := tree.nodes[i]; n.Class >= 0 {
			branches[i].Class = leaves[n.Class]
		} else {
			branches[i].Below = []classifier.Branch{branches[n.Left], branches[n.Right]}
		}
	}
	return branches[0]
}
