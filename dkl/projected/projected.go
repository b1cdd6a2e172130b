package projected

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// Config holds the settings of the projection.
type Config struct {
	Training dkl.Training `json:"training"`
	// GPTree says which tree and which kernel the training goes through.
	GPTree gptree.Config `json:"gptree"`
}

// A Gym is what training needs of its surroundings.
type Gym struct {
	// Train takes a trainer to its end; nil does nothing else meanwhile.
	Train func(context.Context, *dkl.Trainer) error
	// Views returns the augmented views of the rows of x; nil where there are
	// none.
	Views func(x blas32.General) ([]blas32.General, error)
	// Backend is the backend of large products; nil is gonum.
	Backend linalg.Backend
}

// A Head is a Learner behind a projection. What the head within can do beside,
// it finds with classifier.As; whatever takes embeddings is projected here.
type Head struct {
	cfg        Config
	gym        Gym
	head       classifier.Learner
	projection *dkl.Head // nil before the base session, unless fixed
	// fixed says that the base session does not train.
	fixed bool
	// fresh makes unfitted heads like the one within; remember returns it of
	// the one within, which is unfitted.
	fresh    func() (classifier.Learner, error)
	remember func() (func() (classifier.Learner, error), error)
}

var (
	_ classifier.Learner = (*Head)(nil)
	_ classifier.Wrapper = (*Head)(nil)
)

// New returns an unfitted head as unfitted makes them, behind a projection that
// its base session will train.
func New(cfg Config, gym Gym, unfitted func() (classifier.Learner, error)) (*Head, error) {
	if err := cfg.Training.Validate(); err != nil {
		return nil, fmt.Errorf("dkl.%w", err)
	}
	if err := cfg.GPTree.Validate(); err != nil {
		return nil, fmt.Errorf("gptree.%w", err)
	}
	head, err := unfitted()
	if err != nil {
		return nil, err
	}
	h := &Head{cfg: cfg, gym: gym, head: head}
	h.remember = func() (func() (classifier.Learner, error), error) { return unfitted, nil }
	return h, nil
}

// Classes implements classifier.Head.
func (h *Head) Classes() []string { return h.head.Classes() }

// Dim implements classifier.Head: d, not D.
func (h *Head) Dim() int {
	if len(h.head.Classes()) == 0 {
		return 0
	}
	return h.projection.In()
}

// Projection returns g_θ, nil before the base session.
func (h *Head) Projection() *dkl.Head { return h.projection }

// Unwrap implements classifier.Wrapper.
func (h *Head) Unwrap() classifier.Head { return h.head }

// Learn implements classifier.Learner. The base session, the first after New
// and after forgetting everything, trains the projection.
func (h *Head) Learn(ctx context.Context, x blas32.General, y []string) error {
	if err := classifier.CheckExamples(x, y, h.Dim()); err != nil {
		return fmt.Errorf("dkl: learn: %w", err)
	}
	if h.fixed || len(h.head.Classes()) > 0 {
		z, err := h.projection.Project(x)
		if err != nil {
			return fmt.Errorf("dkl: learn: %w", err)
		}
		return h.head.Learn(ctx, z, y)
	}
	fresh, err := h.remember()
	if err != nil {
		return fmt.Errorf("dkl: learn: %w", err)
	}
	p, err := h.train(ctx, x, y)
	if err != nil {
		return err
	}
	z, err := p.Head.Project(x)
	if err != nil {
		return fmt.Errorf("dkl: learn: %w", err)
	}
	if err := h.teach(ctx, p.Start, z, y); err != nil {
		return err
	}
	h.projection, h.fresh = p.Head, fresh
	return nil
}

// train trains a projection on a base session.
func (h *Head) train(ctx context.Context, x blas32.General, y []string) (dkl.Projection, error) {
	e := dkl.Examples{X: x, Y: y}
	if h.cfg.Training.Views > 0 {
		if h.gym.Views == nil {
			return dkl.Projection{}, fmt.Errorf("dkl: views: %d are asked for, but there are no images to make them of; set dkl.views to 0 or train on images", h.cfg.Training.Views)
		}
		var err error
		if e.Views, err = h.gym.Views(x); err != nil {
			return dkl.Projection{}, fmt.Errorf("dkl: views: %w", err)
		}
	}
	t, err := dkl.NewTrainer(h.cfg.Training, h.cfg.GPTree, e, linalg.OrDefault(h.gym.Backend))
	if err != nil {
		return dkl.Projection{}, err
	}
	run := h.gym.Train
	if run == nil {
		run = toTheEnd
	}
	if err := run(ctx, t); err != nil {
		return dkl.Projection{}, err
	}
	return t.Projection(), nil
}

func toTheEnd(ctx context.Context, t *dkl.Trainer) error {
	for !t.Done() {
		if _, err := t.Epoch(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// A starter is a head that takes over what training made beside the projection.
type starter interface {
	LearnFrom(ctx context.Context, s gptree.Start, x blas32.General, y []string) error
	Settings() gptree.Config
}

// teach is the base session of the head within.
func (h *Head) teach(ctx context.Context, start *gptree.Start, z blas32.General, y []string) error {
	s, ok := classifier.As[starter](h.head)
	if start == nil || !ok || !h.takesOver(s.Settings()) {
		return h.head.Learn(ctx, z, y)
	}
	return s.LearnFrom(ctx, *start, z, y)
}

// takesOver says whether a tree of those settings can start from what training
// made.
func (h *Head) takesOver(c gptree.Config) bool {
	t := h.cfg.GPTree
	return h.cfg.Training.HandOver && c.Base == gptree.BaseVI && c.Tree == t.Tree && c.Kernel == t.Kernel && c.Normalize == t.Normalize
}

// Score implements classifier.Head.
func (h *Head) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	if err := classifier.CheckScore(h, dst, novelty, x); err != nil {
		return fmt.Errorf("dkl: %w", err)
	}
	z, err := h.projection.Project(x)
	if err != nil {
		return err
	}
	return h.head.Score(dst, novelty, z)
}

// unfitted returns heads like the one within, as it chose its settings.
func (h *Head) unfitted() (classifier.Learner, error) {
	if u, ok := classifier.As[episodes.Unfitter](h.head); ok {
		return u.Unfitted()
	}
	fresh := h.fresh
	if fresh == nil {
		var err error
		if fresh, err = h.remember(); err != nil {
			return nil, err
		}
	}
	head, err := fresh()
	if err == nil {
		classifier.UseBackend(head, h.gym.Backend)
	}
	return head, err
}

// rows projects what optional interfaces are asked about.
func (h *Head) rows(x blas32.General) (blas32.General, error) {
	if len(h.head.Classes()) == 0 {
		return x, classifier.ErrNotFitted
	}
	if err := classifier.CheckRows(x, h.Dim()); err != nil {
		return x, err
	}
	return h.projection.Project(x)
}

// use hands a backend to the projection, if there is one.
func (h *Head) use(m linalg.Backend) {
	h.gym.Backend = m
	if h.projection != nil {
		h.projection.UseBackend(m)
	}
}

// without drops the projection of a head that has forgotten everything.
func (h *Head) without() *dkl.Head {
	if !h.fixed && len(h.head.Classes()) == 0 {
		return nil
	}
	return h.projection
}
