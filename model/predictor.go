package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// A Predictor turns embeddings x into log-probabilities: the projection g_θ, the
// head, the temperature T and a prior π of the classes (OldShare); all but the head
// are optional.
//
//	log p(c|x) = log-softmax_c  log p_head(c|g_θ(x))/T + log π_c
//
// The base session trains g_θ and the head; later sessions only train the head.
// T and the novelty thresholds are fitted to a large base session once, after which T
// follows the share of later classes. With a smaller one the Predictor keeps
// embeddings, and fits them again whenever something is learned or forgotten. Beyond
// classifier.Learner, a Predictor can do what its head can: check Head with a type
// assertion, then call the method here. Methods that the head lacks return an error
// that wraps classifier.ErrUnsupported.
type Predictor struct {
	// Projection is nil without one, and before the base session.
	Projection *dkl.Projection
	// Comparison is why there is a projection or none; nil if none was asked for,
	// if nothing was compared, and before the base session.
	Comparison *Comparison
	Head       classifier.Learner
	// Temperature is nil if T is set to 1, and before the base session.
	Temperature *temperature.Value

	// OldShare may be changed at any time; it changes no parameters.
	OldShare OldShare

	// Calibration is what held-out examples told; the zero value before the base
	// session.
	Calibration calibration.Calibration

	recipe
	kept *keptExamples
	base baseClasses
}

// A recipe is what the base session and each calibration are made by.
type recipe struct {
	temperature temperature.Config
	dkl         *dkl.Settings // nil for no projection
	env         dkl.TrainEnv
	seed        uint64
	// uncalibrated leaves out the calibration if T is given.
	uncalibrated bool
	// fresh returns unfitted heads.
	fresh func() (classifier.Learner, error)
}

var (
	_ classifier.Learner     = (*Predictor)(nil)
	_ classifier.BackendUser = (*Predictor)(nil)
)

// NewPredictor returns an unfitted Predictor. It reads Method, Heads,
// Temperature, OldShare, DKL, Env, Seed, WithoutCalibration and Backend of the settings.
func NewPredictor(s Settings) (*Predictor, error) {
	s.Method = cmp.Or(s.Method, method.Default)
	if err := s.Temperature.Validate(); err != nil {
		return nil, err
	}
	if err := s.OldShare.Validate(); err != nil {
		return nil, err
	}
	p := &Predictor{OldShare: s.OldShare, recipe: recipe{temperature: s.Temperature, env: s.Env, seed: s.Seed,
		uncalibrated: s.WithoutCalibration}}
	p.env.Backend = s.Backend
	if s.DKL != nil {
		if s.Prior != nil {
			return nil, fmt.Errorf("%w with deep kernel learning: it is one of embeddings, not of projections",
				gauss.ErrPrior)
		}
		m, err := method.Find(s.Method)
		if err != nil {
			return nil, err
		}
		p.dkl = &dkl.Settings{Training: setting.OrDefault(*s.DKL, dkl.DefaultTraining()), Tree: s.Heads.Tree(m)}
		if err := p.dkl.Validate(); err != nil {
			return nil, err
		}
	}
	p.fresh = func() (classifier.Learner, error) { return method.NewOn(s.Backend, s.Method, s.Heads) }
	if s.Prior != nil {
		fresh, shared := p.fresh, s.Prior.Head()
		p.fresh = func() (classifier.Learner, error) {
			head, err := fresh()
			return withPrior(s.Method, head, err, shared)
		}
	}
	var err error
	if p.Head, err = p.fresh(); err != nil {
		return nil, err
	}
	return p, p.useWords(s.Words)
}

// Classes implements classifier.Head.
func (p *Predictor) Classes() []string { return p.Head.Classes() }

// Dim implements classifier.Head: the dimension of the embeddings, not of their
// projections.
func (p *Predictor) Dim() int {
	if p.Projection != nil {
		return p.Projection.In()
	}
	return p.Head.Dim()
}

// Score implements classifier.Head; the novelty is the head's.
func (p *Predictor) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	if err := (Untempered{p}).Score(dst, novelty, x); err != nil {
		return err
	}
	p.Temper(dst)
	return nil
}

// Untempered is a Predictor without its temperature and prior, which Temper adds to what it says.
type Untempered struct{ *Predictor }

// Score implements classifier.Head.
func (u Untempered) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	if u.Projection != nil {
		if err := classifier.CheckScore(u, dst, novelty, x); err != nil {
			return fmt.Errorf("dkl: %w", err)
		}
		var err error
		if x, err = u.Projection.Project(x); err != nil {
			return err
		}
	}
	if err := u.Head.Score(dst, novelty, x); err != nil {
		return err
	}
	return checkScores(dst, novelty)
}

// Temper turns the log-probabilities of Untempered (n×C) into those of the Predictor.
func (p *Predictor) Temper(logProb blas64.General) {
	p.Temperature.Apply(logProb)
	p.OldShare.logPrior(p.Classes(), p.base).apply(logProb)
}

// checkScores returns an error if a score is not a number. No head computes one
// from reasonable numbers.
func checkScores(logProb blas64.General, novelty []float64) error {
	bad := floats.HasNaN(novelty)
	for i := 0; i < logProb.Rows && !bad; i++ {
		bad = floats.HasNaN(dense.Row(logProb, i))
	}
	if bad {
		return errors.New("a score is not a number (NaN): numbers of the model or of an embedding are too large")
	}
	return nil
}

// project returns the head's input for embeddings.
func (p *Predictor) project(x blas32.General) (blas32.General, error) {
	if p.Projection == nil {
		return x, nil
	}
	if err := classifier.CheckRows(x, p.Projection.In()); err != nil {
		return x, fmt.Errorf("dkl: %w", err)
	}
	return p.Projection.Project(x)
}

// Learn implements classifier.Learner. The base session is the first session,
// or the first after everything was forgotten.
func (p *Predictor) Learn(ctx context.Context, x blas32.General, y []string) error {
	return p.learn(ctx, episodes.Episode{X: x, Y: y}, false)
}

// learn is Learn. With more set, another session follows, and a calibration that
// it would replace is left out.
func (p *Predictor) learn(ctx context.Context, s episodes.Episode, more bool) error {
	x, y := s.X, s.Y
	if len(p.Classes()) == 0 || p.namesOnly() {
		return p.learnBase(ctx, s, more)
	}
	if err := classifier.CheckExamples(x, y, p.Dim()); err != nil {
		return fmt.Errorf("learn: %w", err)
	}
	z, err := p.project(x)
	if err != nil {
		return err
	}
	// The calibration comes first, since the head cannot unlearn.
	next := p.calibratedOn(p.kept.with(s))
	if err := next.ownWords(); err != nil {
		return err
	}
	if !more {
		if err := next.calibrate(ctx); err != nil {
			return err
		}
	}
	if err := next.Head.Learn(ctx, z, y); err != nil {
		return err
	}
	next.Temperature = next.Temperature.With(next.base.later(next.Classes()))
	*p = *next
	return nil
}

func (p *Predictor) learnBase(ctx context.Context, s episodes.Episode, more bool) error {
	next := *p
	err := next.teachBase(ctx, s.X, s.Y)
	if err == nil {
		next.kept = newKeptExamples(s)
		next.base = set(next.Classes())
		if !more || !next.kept.complete() {
			err = next.calibrateBase(ctx, s)
		}
	}
	if err != nil {
		words := p.Words()
		head, again := p.fresh()
		if again == nil {
			p.Head = head // the base session is unlearned
			again = p.useWords(words)
		}
		return errors.Join(err, again)
	}
	*p = next
	return nil
}

// unfitted returns a head for episodes, with the settings that the Predictor's
// own head has already chosen.
func (p *Predictor) unfitted() (classifier.Learner, error) {
	if head, ok := p.Head.(classifier.Unfitter); ok {
		return head.Unfitted()
	}
	return p.newHead()
}

func (r *recipe) newHead() (classifier.Learner, error) {
	head, err := r.fresh()
	if err == nil {
		classifier.UseBackend(head, r.env.Backend)
	}
	return head, err
}

// Views returns the number of augmented views of every image that the projection
// is trained on.
func (p *Predictor) Views() int {
	if p.dkl == nil {
		return 0
	}
	return p.dkl.Training.Views
}

// untrained returns a Predictor with the settings of p that has learned nothing.
// It stores trainings in c unless that is nil.
func (p *Predictor) untrained(c classifier.Checkpoint) (*Predictor, error) {
	next := &Predictor{OldShare: p.OldShare, recipe: p.recipe}
	if c != nil {
		next.fresh = func() (classifier.Learner, error) {
			head, err := p.fresh()
			classifier.UseCheckpoint(head, c)
			return head, err
		}
	}
	var err error
	if next.Head, err = next.newHead(); err != nil {
		return nil, err
	}
	return next, next.useWords(p.Words())
}

// Forget removes a class as the head does, see classifier.Forgetter: what it
// estimated from the base session for all classes stays. Model.ForgetClass forgets
// exactly.
func (p *Predictor) Forget(class string) error {
	f, ok := p.Head.(classifier.Forgetter)
	if !ok {
		return classifier.ErrUnsupported
	}
	if err := f.Forget(class); err != nil {
		return err
	}
	return p.forgotten(context.Background(), p.kept.withoutClass(class))
}

// ForgetSamples removes single examples as the head does, see Forget.
func (p *Predictor) ForgetSamples(x blas32.General, y []string) error {
	f, ok := p.Head.(classifier.SampleForgetter)
	if !ok {
		return classifier.ErrUnsupported
	}
	z, err := p.project(x)
	if err != nil {
		return err
	}
	if err := f.ForgetSamples(z, y); err != nil {
		return err
	}
	return p.forgotten(context.Background(), p.kept.withoutRows(x, y))
}

// forgotten calibrates a Predictor whose head has forgotten something. Once the
// last class is gone it drops the projection and all that was calibrated.
func (p *Predictor) forgotten(ctx context.Context, rest *keptExamples) error {
	if len(p.Classes()) == 0 {
		p.Projection, p.Comparison, p.Temperature, p.Calibration, p.kept, p.base = nil, nil, nil,
			calibration.Calibration{}, nil, nil
		return nil
	}
	next := p.calibratedOn(rest)
	next.base = p.base.of(p.Classes())
	if err := next.calibrate(ctx); err != nil {
		return err
	}
	next.Temperature = next.Temperature.With(next.base.later(next.Classes()))
	*p = *next
	return nil
}

// Variance writes predictive variances; see classifier.Varier.
func (p *Predictor) Variance(dst []float64, x blas32.General) error {
	v, ok := p.Head.(classifier.Varier)
	if !ok {
		return classifier.ErrUnsupported
	}
	z, err := p.project(x)
	if err != nil {
		return err
	}
	return v.Variance(dst, z)
}

// Features returns the features of embeddings; see classifier.Linear.
func (p *Predictor) Features(x blas32.General) (blas64.General, error) {
	l, ok := p.Head.(classifier.Linear)
	if !ok {
		return blas64.General{}, classifier.ErrUnsupported
	}
	z, err := p.project(x)
	if err != nil {
		return blas64.General{}, err
	}
	return l.Features(z)
}

// Export adds the Predictor to an ONNX graph; see classifier.Exporter.
func (p *Predictor) Export(g *onnx.Graph, x string) (logProb, novelty string, err error) {
	e, ok := p.Head.(classifier.Exporter)
	if !ok {
		return "", "", classifier.ErrUnsupported
	}
	if p.Projection != nil {
		x = p.Projection.Graph(g, x)
	}
	if logProb, novelty, err = e.Export(g, x); err != nil {
		return "", "", err
	}
	return p.OldShare.logPrior(p.Classes(), p.base).graph(g, p.Temperature.Graph(g, logProb)), novelty, nil
}

// UseBackend implements classifier.BackendUser.
func (p *Predictor) UseBackend(m linalg.Backend) {
	p.env.Backend = m
	if p.Projection != nil {
		p.Projection.UseBackend(m)
	}
	classifier.UseBackend(p.Head, m)
}
