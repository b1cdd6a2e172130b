package vargp

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
	"github.com/seed-90d10d51/pipeline/gp/vargp"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// unseen is the index of the head that new classes are cloned from.
const unseen = 0

// VARGP is the head.
type VARGP struct {
	cfg        Config
	on         linalg.Backend        // nil is gonum
	checkpoint classifier.Checkpoint // nil for none
	fitted
}

// fitted holds what sessions change: every session creates a new one.
type fitted struct {
	frame   classifier.Frame
	classes []string // of heads 1, 2, …
	counts  []int    // examples of each class so far
	richest float64  // the largest mean of counts over a session's classes, after that session
	model   *vargp.Model
	answer  *vargp.Predictor
}

var (
	_ classifier.Learner = (*VARGP)(nil)
	_ classifier.Saver   = (*VARGP)(nil)

	_ classifier.BackendUser  = (*VARGP)(nil)
	_ classifier.Checkpointer = (*VARGP)(nil)
)

// New returns an unfitted head.
func New(cfg Config) (*VARGP, error) {
	cfg = setting.OrDefault(cfg, DefaultConfig())
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &VARGP{cfg: cfg}, nil
}

// Clone implements classifier.Cloner in O(1): the two share what they have learned,
// which never changes.
func (h *VARGP) Clone() (classifier.Learner, error) {
	next := *h
	return &next, nil
}

// UseBackend implements classifier.BackendUser, for training and scoring.
func (h *VARGP) UseBackend(m linalg.Backend) {
	h.on = m
	if h.model == nil {
		return
	}
	h.model = h.model.On(m)
	if answer, err := h.model.Predictor(); err == nil { // it had one before, so this cannot fail
		h.answer = answer // computed by m throughout, as if m had trained the head
	}
}

var _ classifier.Slow = (*VARGP)(nil)

// Slow implements classifier.Slow.
func (h *VARGP) Slow() {}

// Classes implements classifier.Head.
func (h *VARGP) Classes() []string { return h.classes }

// Dim implements classifier.Head.
func (h *VARGP) Dim() int {
	if h.model == nil {
		return 0
	}
	return h.model.Dim()
}

// Hypers returns the mean and standard deviation of log γ and of the log
// length-scales, one for each value that the kernel sees; nil before the base
// session.
func (h *VARGP) Hypers() (mean, sd []float64) {
	if h.model == nil {
		return nil, nil
	}
	return h.model.Hypers()
}

// Learn implements classifier.Learner: one training run for every session, at
// the cost given in doc.go.
func (h *VARGP) Learn(ctx context.Context, x blas32.General, y []string) error {
	next, err := h.learned(ctx, x, y)
	if err != nil {
		return fmt.Errorf("vargp: learn: %w", err)
	}
	h.fitted = *next
	return nil
}

func (h *VARGP) learned(ctx context.Context, x blas32.General, y []string) (*fitted, error) {
	next := &fitted{frame: h.frame, classes: slices.Clone(h.classes), counts: slices.Clone(h.counts),
		richest: h.richest}
	scale := cmp.Or(h.cfg.Lengthscale, 1) // until the spread is known
	x, groups, err := next.frame.Session(x, y, h.Dim(), h.cfg.Normalize, scale)
	if err != nil {
		return nil, err
	}
	s := h.session(x, groups)
	if h.model == nil {
		if next.model, err = h.begin(s); err != nil {
			return nil, err
		}
	} else {
		next.model = h.model.Clone()
	}
	for _, g := range groups {
		if !slices.Contains(next.classes, g.Class) {
			next.classes, next.counts = append(next.classes, g.Class), append(next.counts, 0)
			next.model.Split(unseen)
		}
	}
	each := next.count(groups)
	task := s.task(next.classes, next.model.Groups())
	if as := float64(h.cfg.CountAs); as > 0 {
		task.Temperature = each / max(as, next.richest)
	}
	if err := h.follow(&task, next.model); err != nil {
		return nil, err
	}
	if _, err = next.model.Learn(ctx, task); err != nil {
		return nil, err
	}
	next.answer, err = next.model.Predictor()
	return next, err
}

// count adds a session's examples to the counts of their classes and returns
// the mean of the new counts.
func (f *fitted) count(groups []classifier.Group) float64 {
	total := 0
	for _, g := range groups {
		n := &f.counts[slices.Index(f.classes, g.Class)]
		*n += len(g.Rows)
		total += *n
	}
	// One division: a sum of 1/n need not reach 1, the least that Load accepts.
	each := float64(total) / float64(len(groups))
	f.richest = max(f.richest, each)
	return each
}

// begin returns a model that has not learned any session.
func (h *VARGP) begin(s session) (*vargp.Model, error) {
	scale := h.cfg.Lengthscale
	if scale == Auto {
		scale = 1 // until the spread is known
	}
	m, err := vargp.New(h.cfg.model(), s.dim, 1, scale)
	if err != nil {
		return nil, err
	}
	m = m.On(h.on)
	if h.cfg.Lengthscale == Auto {
		err = m.StartAtSpread(gathered(s.dim, s.rows...))
	}
	return m, err
}

// A session holds the examples of some classes, in an order that does not
// depend on the order of the input.
type session struct {
	cfg     Config
	dim     int
	classes []string
	rows    []blas64.General // of each class
}

func (h *VARGP) session(x blas32.General, groups []classifier.Group) session {
	s := session{cfg: h.cfg, dim: x.Cols}
	for _, g := range groups {
		s.classes = append(s.classes, g.Class)
		s.rows = append(s.rows, classifier.Placed(x, exemplars.Sorted(x, g.Rows), h.cfg.Normalize))
	}
	return s
}

func gathered(dim int, parts ...blas64.General) blas64.General {
	out := blas64.General{Cols: dim, Stride: dim}
	for _, p := range parts {
		out.Rows += p.Rows
		out.Data = append(out.Data, p.Data...)
	}
	return out
}

// leastToValidate is the minimum number of examples of a class that gives some
// to validation.
const leastToValidate = 10

// task splits the session into training and validation examples, and draws
// inducing inputs.
func (s session) task(classes []string, groups int) vargp.Task {
	t := vargp.Task{X: dense.New(0, s.dim), ValidX: dense.New(0, s.dim)}
	for i, rows := range s.rows {
		head := slices.Index(classes, s.classes[i]) + 1
		held := 0
		if rows.Rows >= leastToValidate {
			held = int(s.cfg.Validation * float64(rows.Rows))
		}
		for k, r := range random.StreamOf(s.cfg.Seed, "classifier/vargp/validation", s.classes[i:i+1]).Perm(rows.Rows) {
			row := dense.Row(rows, r)
			if k < held {
				t.ValidX.Data, t.ValidY = append(t.ValidX.Data, row...), append(t.ValidY, head)
			} else {
				t.X.Data, t.Y = append(t.X.Data, row...), append(t.Y, head)
			}
		}
	}
	t.X.Rows, t.ValidX.Rows = len(t.Y), len(t.ValidY)
	for g := range groups {
		t.Inputs = append(t.Inputs, s.inducing(g))
	}
	return t
}

// inducing draws examples of each class, in total as many as the settings
// allow.
func (s session) inducing(g int) blas64.General {
	each := max(1, min(s.cfg.Inducing, s.cfg.MaxInducing/len(s.rows)))
	var parts []blas64.General
	for i, rows := range s.rows {
		if i == s.cfg.MaxInducing {
			break
		}
		rng := random.StreamOf(s.cfg.Seed, "classifier/vargp/inducing", s.classes[i:i+1], g)
		parts = append(parts, dense.Gather(rows, rng.Perm(rows.Rows)[:min(each, rows.Rows)]))
	}
	return gathered(s.dim, parts...)
}

// Score implements classifier.Head. The novelty is the entropy in nats of the
// distribution over the classes and the unseen head.
func (h *VARGP) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	return classifier.Scoring{ // of all heads, n×(C+1)
		Method: "vargp", Head: h, Novelty: classifier.Entropy,
		LogProb: func(dst, scores []float64) {
			copy(dst, scores[1:])
			classifier.LogSoftmax(dst)
		},
		Scores: func(x blas32.General) (blas64.General, error) {
			out := dense.New(x.Rows, 1+len(h.classes))
			return out, h.answer.LogProb(out, classifier.Placed(h.frame.Of(x), dense.Range(0, x.Rows), h.cfg.Normalize))
		},
	}.Score(dst, novelty, x)
}
