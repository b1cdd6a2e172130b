package gptree

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/gp/kernel"
)

// A Root holds the settings by which the roots over sessions weigh base against
// novel classes.
type Root struct {
	// Bias and Lengthscale are RootBias and RootLengthscale of Config.
	Bias        float64 `json:"bias"`
	Lengthscale float64 `json:"lengthscale"`
}

// A Choice is the root chosen by episodes, with the scores of all candidates.
type Choice = episodes.Choice[Root]

// candidates returns the roots that calibration chooses from, grouped by
// lengthscale.
func (c Config) candidates() []Root {
	shares := []float64{1, 0.7, 0.5}
	if c.Kernel == kernel.Linear || c.Mean != MeanZero {
		shares = []float64{0} // only an outputscale, or no kernel at all
	}
	var all []Root
	for _, share := range shares {
		for _, bias := range []float64{-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2} {
			all = append(all, Root{Bias: bias, Lengthscale: share * c.Lengthscale})
		}
	}
	return all
}

// with returns the settings with the root set to r.
func (c Config) with(r Root) Config {
	c.Calibrate, c.RootBias, c.RootLengthscale = false, r.Bias, r.Lengthscale
	return c
}

// effective returns the settings that the model is built with.
func (h *GPTree) effective() Config {
	if h.choice == nil {
		return h.cfg
	}
	return h.cfg.with(h.choice.Value)
}

// Choice returns the root that calibration chose, or nil before the base session
// and without calibration.
func (h *GPTree) Choice() *Choice { return h.choice }

// calibrate chooses the root on the base session: some classes are left out and
// learned later from a few shots, and the root with the largest sum of base and
// novel accuracy wins. The base tree of an episode is fitted once for all
// candidates, the novel part once for every lengthscale.
func (h *GPTree) calibrate(ctx context.Context, x blas32.General, y []string) error {
	cfg := h.cfg.with(Root{})
	fit := func(ctx context.Context, x blas32.General, y []string) (func(Root) (classifier.Learner, error), error) {
		base := &GPTree{cfg: cfg, like: h.base, mul: h.mul}
		if err := base.Learn(ctx, x, y); err != nil {
			return nil, err
		}
		learned := make(map[float64]*GPTree)
		return func(r Root) (classifier.Learner, error) { return &trial{GPTree: base, root: r, learned: learned}, nil },
			nil
	}
	c, err := episodes.ChooseOr(ctx, x, y, episodes.Seeded(h.cfg.Seed), h.cfg.candidates(), Root{}, fit)
	if err != nil {
		return fmt.Errorf("calibrate: %w", err)
	}
	h.choice = &c
	return nil
}

// A trial is a head after its base session that learns one more session with a
// candidate root.
type trial struct {
	*GPTree
	root Root
	// learned holds the heads after that session, by lengthscale of the root and
	// without bias. The trials of one episode share it.
	learned map[float64]*GPTree
}

// Learn implements classifier.Learner. All trials that share learned must be
// given the same session.
func (t *trial) Learn(ctx context.Context, x blas32.General, y []string) error {
	h, ok := t.learned[t.root.Lengthscale]
	if !ok {
		head := *t.GPTree
		h = &head
		h.cfg = h.cfg.with(Root{Lengthscale: t.root.Lengthscale})
		if err := h.Learn(ctx, x, y); err != nil {
			return err
		}
		t.learned[t.root.Lengthscale] = h
	}
	t.GPTree = &GPTree{Store: h.Store, cfg: h.cfg.with(t.root), fitted: h.fitted,
		model: h.model.biased(t.root.Bias), mul: h.mul}
	return nil
}

// biased returns the model with another bias at the roots over sessions.
func (m *model) biased(bias float64) *model {
	out := *m
	out.cfg.RootBias = bias
	out.nodes = slices.Clone(m.nodes)
	for i := range out.nodes {
		if out.nodes[i].kind == rootNode {
			out.nodes[i].bias = -bias
		}
	}
	return &out
}
