package pipeline

import (
	"context"
	"errors"

	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/account"
	"github.com/seed-90d10d51/pipeline/model/advice"
	"github.com/seed-90d10d51/pipeline/model/classstats"
	"github.com/seed-90d10d51/pipeline/model/prior"
	"github.com/seed-90d10d51/pipeline/research/training"
	"github.com/seed-90d10d51/pipeline/teach"
)

// A TrainRequest says what a new model learns.
type TrainRequest struct {
	// From is what to learn from; it may be empty if there are Texts or Stats.
	From Source
	// Texts is a file of classes and texts that describe them, or a folder of their embeddings.
	Texts string
	// Stats is a file of statistics, in place of From.
	Stats string
	// Out is the file of the model, "" to keep it in memory. If the model of that name was taught,
	// its decisions stay and From is added to them; Prefer says which truth to keep where the two
	// conflict.
	Out        string
	Prefer     teach.Preference
	Classifier Classifier
	Seed       uint64
}

// A TrainOption changes how a model is trained.
type TrainOption func(*TrainRequest)

// Method trains one method, instead of comparing several; method.Methods has their names.
func Method(name string) TrainOption { return func(q *TrainRequest) { q.Classifier.Name = name } }

// Seed draws other random numbers.
func Seed(seed uint64) TrainOption { return func(q *TrainRequest) { q.Seed = seed } }

// Into saves the model in a file, beside which a training that was stopped resumes.
func Into(file string) TrainOption { return func(q *TrainRequest) { q.Out = file } }

// newTrainRequest returns a request with the defaults, changed by options.
func newTrainRequest(from Source, options []TrainOption) TrainRequest {
	q := TrainRequest{From: from, Classifier: DefaultClassifier()}
	for _, option := range options {
		option(&q)
	}
	q.Classifier = q.Classifier.resolved()
	return q
}

// Train trains a model. To learn from a folder of photos, each folder inside it is a class. The error
// is a PartialError if some photos could not be read: then the model is that of the others.
func (s *Studio) Train(ctx context.Context, from Source, options ...TrainOption) (*Model, *Learned, error) {
	q := newTrainRequest(from, options)
	l, err := s.begin(ctx).trainOrTaught(ctx, q)
	if l == nil || l.Model == nil {
		return nil, l, err
	}
	return &Model{s, q.Out, l.Model}, l, err
}

func (r *run) trainOrTaught(ctx context.Context, q TrainRequest) (*Learned, error) {
	if taught(q.Out) && q.Stats == "" {
		return r.trainTaught(ctx, q)
	}
	if err := Writable(q.Out); err != nil {
		return nil, err
	}
	switch {
	case q.Stats != "":
		return r.trainStats(ctx, q)
	case q.Prefer != "":
		return nil, notTaught(q.Out)
	case q.Out == "" && q.Classifier.DKL.Enabled:
		return nil, misuse("deep kernel learning stores its progress next to the model: name a file for the model")
	}
	return r.train(ctx, q)
}

func (r *run) train(ctx context.Context, q TrainRequest) (*Learned, error) {
	settings := r.modelSettings(q)
	var err error
	var named embedding.Provenance
	t := r.texts(q.Texts, q.From)
	if settings.Words, named, err = t.words(ctx, nil); err != nil {
		return nil, err
	}
	if settings.Words != nil && q.From.empty() {
		return r.trainNames(settings, named, q)
	}
	in := r.inputs(q.From, q.Out)
	in.newModel = r.embed
	e, b, err := in.labelled(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := e.Provenance.Compatible(named, "in the texts"); err != nil {
		return nil, err
	}
	settings.Provenance = e.Provenance
	settings.Provenance.Text = named.Text
	products, err := r.Products(ctx)
	if err != nil {
		return nil, err
	}
	settings.Backend, settings.Comparing = products.Backend, r.counting(Methods)
	if settings.Prior, err = readPrior(q.Classifier.Prior); err != nil {
		return nil, err
	}
	trainings := r.checkpoint(q.Out, q.Classifier.DKL.Resume)
	if q.Out != "" {
		settings.Heads.Checkpoint = trainings
	}
	if err := in.trainProjection(ctx, &settings, e, q); err != nil {
		return nil, err
	}
	m, outcome, err := model.Train(ctx, settings, b)
	if err != nil {
		return nil, err
	}
	if err := save(m, q.Out); err != nil {
		return nil, err
	}
	if q.Out != "" { // after the model is written: until then they are all there is
		if err := errors.Join(trainings.Close(), training.Finish(projectionFolder(q.Out))); err != nil {
			return nil, err
		}
	}
	l := &Learned{Model: m, File: q.Out, Outcome: outcome, Failed: len(e.Outcome.Problems)}
	l.count()
	l.trained(r)
	l.lines = append(l.lines, wordLines(m)...)
	r.warn(advice.Nesting(m.Classes(), outcome.NewClasses, in.folders(e.Samples)))
	l.lines = append(l.lines, account.Trained(m)...)
	return l, r.problems(e.Outcome.Problems, besides(q.Out))
}

// trained says why the method was chosen, if it was, what was learned and what prior
// the model has.
func (l *Learned) trained(r *run) {
	if l.Model.Choice != nil {
		l.lines.add("chose %s", l.Model.Choice.Why)
	}
	l.outcome(r, "trained "+l.Model.Method+":")
	l.lines = append(l.lines, priorLines(l.Model)...)
}

func (r *run) modelSettings(q TrainRequest) model.Settings {
	c := q.Classifier
	var classFrom string
	if q.From.Images != "" && q.From.List == "" {
		classFrom = q.From.Scan.ClassFrom
	}
	return model.Settings{
		ClassFrom: classFrom,
		Method:    c.Name, Heads: c.Heads(q.Seed), Temperature: c.Tempered(), OldShare: c.OldShare,
		WithoutStatistics: !c.Statistics,
		Seed:              q.Seed, ToolVersion: r.version,
	}
}

// trainProjection adds a projection to the settings of a model when the request asks
// for one.
func (in inputs) trainProjection(ctx context.Context, s *model.Settings, e embedding.Embeddings, q TrainRequest) error {
	if !q.Classifier.DKL.Enabled {
		return nil
	}
	t := q.Classifier.Training(q.Seed)
	s.DKL, s.Env = &t, training.Env(projectionFolder(q.Out), false, !q.Classifier.DKL.Resume, in.log.Info)
	if t.Views == 0 || in.Features != "" {
		return nil
	}
	images, err := in.source(ctx, toLearn)
	if err != nil {
		return err
	}
	s.Env.Views = e.Views(ctx, in.embed, images.Root(), t.Views)
	return nil
}

// projectionFolder returns the folder of the trainings of a model's projection.
func projectionFolder(model string) string { return model + ".dkl" }

// checkpoint returns the folder that stores long trainings of a model's head until
// the model is saved, so that the same request can resume them.
func (r *run) checkpoint(file string, resume bool) *checkpoint.Folder {
	return &checkpoint.Folder{Dir: file + ".training", Restart: !resume, Say: r.log.Info}
}

// readPrior reads a prior, nil for none.
func readPrior(file string) (*prior.Prior, error) {
	if file == "" {
		return nil, nil
	}
	return prior.Load(file)
}

// trainStats trains on a file of statistics.
func (r *run) trainStats(ctx context.Context, q TrainRequest) (*Learned, error) {
	if err := replaceable(q.Out); err != nil {
		return nil, err
	}
	if q.Classifier.DKL.Enabled {
		return nil, misuse("{dkl} needs examples, which {stats} does not have: give {images} or {features}")
	}
	s, err := classstats.Load(q.Stats)
	if err != nil {
		return nil, err
	}
	settings := r.modelSettings(q)
	products, err := r.Products(ctx)
	if err != nil {
		return nil, err
	}
	settings.Backend = products.Backend
	if settings.Prior, err = readPrior(q.Classifier.Prior); err != nil {
		return nil, err
	}
	m, outcome, err := model.TrainStats(ctx, settings, s)
	if err != nil {
		return nil, err
	}
	if err := save(m, q.Out); err != nil {
		return nil, err
	}
	l := &Learned{Model: m, File: q.Out, Outcome: outcome}
	l.count()
	l.trained(r)
	return l, nil
}

// trainTaught adds a folder or list to a model that was taught: what people decided stays,
// and so does the method.
func (r *run) trainTaught(ctx context.Context, q TrainRequest) (*Learned, error) {
	m, err := model.Load(teach.StartFile(q.Out))
	if err != nil {
		return nil, err
	}
	if name := q.Classifier.Name; name != method.Auto && name != m.Method || q.Classifier.DKL.Enabled {
		return nil, misuse("%s was taught with serve, and goes on with the method %s: to train another one, give "+
			"another {out}", q.Out, m.Method)
	}
	r.say("%s was taught with serve: its decisions stay, and these photos are added", q.Out)
	return r.learnTaught(ctx, LearnRequest{Model: q.Out, From: q.From, Texts: q.Texts, Prefer: q.Prefer}, m)
}
