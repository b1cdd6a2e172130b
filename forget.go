package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/classstats"
	"github.com/seed-90d10d51/pipeline/research/training"
	"github.com/seed-90d10d51/pipeline/teach"
)

// A ForgetRequest says what a model forgets: classes, or single images.
type ForgetRequest struct {
	// Model is the file of the model, and Out that of the changed one; "" is the same file.
	Model, Out string
	// Classes are forgotten with everything learned about them, or else the images that the file
	// Samples lists, with paths relative to From.Images or rows of From.Features.
	Classes []string
	Samples string
	// From has images or embeddings that are learned again, and Stats files of statistics.
	From  Source
	Stats []string
	// Approximate removes only what is stored by class, and leaves traces in what all share.
	Approximate bool
	// KeepPrevious keeps the previous version and its statistics.
	KeepPrevious bool
	// Restart forgets what a stopped run has trained.
	Restart  bool
	OldShare model.OldShare // as in LearnRequest
}

// to is the file of the changed model.
func (q ForgetRequest) to() string { return cmp.Or(q.Out, q.Model) }

// Forgotten is what Forget returns.
type Forgotten struct {
	lines lines
}

// Lines say what was forgotten, for a person.
func (f *Forgotten) Lines() []string { return f.lines }

// Forget removes classes or images from a model and saves it: the model is the one that never saw
// them. If the model was taught, they are forgotten in its journal, too.
func (s *Studio) Forget(ctx context.Context, q ForgetRequest) (*Forgotten, error) {
	if q.From.Features != "" && q.From.Images != "" {
		return nil, misuse("{features} and {images} are two different inputs: give only one")
	}
	q.Classes = slices.Compact(slices.Sorted(slices.Values(q.Classes)))
	r := s.begin(ctx)
	if taught(q.Model) {
		return r.forgetTaught(ctx, q)
	}
	return r.forget(ctx, q)
}

func (r *run) forget(ctx context.Context, q ForgetRequest) (*Forgotten, error) {
	if err := Writable(q.to()); err != nil {
		return nil, err
	}
	m, err := r.loadShared(q.Model, q.OldShare)
	if err != nil {
		return nil, err
	}
	trainings := r.checkpoint(q.to(), !q.Restart)
	how, err := r.meansToForget(ctx, m, q)
	if err != nil {
		return nil, err
	}
	how.Checkpoint = trainings
	what, err := r.toForget(ctx, m, q)
	if err != nil {
		return nil, err
	}
	done, err := what.from(ctx, m, how)
	if nothing := (*model.NotLearnedError)(nil); errors.Is(err, classifier.ErrUnknownClass) ||
		errors.As(err, &nothing) {
		return finishForgetting(m, q, what, err)
	}
	if missing := (*model.MissingRowsError)(nil); errors.As(err, &missing) {
		return nil, phrase.New("%w. They are neither in the model nor in the cache: give the images with {images}, "+
			"the embeddings with {features}, or the statistics that the model was trained on with {stats}; "+
			"{approximate} does without and leaves traces", err)
	}
	if err != nil {
		return nil, err
	}
	m.ToolVersion, m.DropPrevious = r.version, !q.KeepPrevious
	f := &Forgotten{}
	if err := r.saveForgotten(m, q, f); err != nil {
		return nil, err
	}
	if err := errors.Join(trainings.Close(), training.Finish(projectionFolder(q.to()))); err != nil {
		return nil, err
	}
	f.tell(m, q.Classes, done)
	if done.Way == model.Approximated {
		r.log.Warn("forgot approximately: what all classes share keeps traces of it")
	}
	return f, nil
}

// meansToForget returns what forgetting may need beyond what the model keeps.
func (r *run) meansToForget(ctx context.Context, m *model.Model, q ForgetRequest) (model.Forgetting, error) {
	in := r.inputs(q.From, q.Out)
	if q.Samples != "" { // the columns are those of the list alone
		in.Scan = in.Scan.withoutColumns()
	}
	how := model.Forgetting{Rows: in.learned(m), Approximate: q.Approximate}
	how.Env = training.Env(projectionFolder(q.to()), false, q.Restart, r.log.Info)
	var err error
	if how.Env.Views, err = in.viewsOf(ctx, m); err != nil {
		return how, err
	}
	for _, name := range q.Stats {
		s, err := classstats.Load(name)
		if err != nil {
			return how, err
		}
		how.Statistics = append(how.Statistics, s)
	}
	return how, nil
}

// A forgettable is what is to be forgotten: classes, or else samples.
type forgettable struct {
	classes []string
	samples model.Batch
}

func (r *run) toForget(ctx context.Context, m *model.Model, q ForgetRequest) (what forgettable, err error) {
	what.classes = q.Classes
	if q.Samples != "" {
		what.samples, err = r.inputs(q.From, q.Out).listed(ctx, m, q.Samples)
	}
	return what, err
}

func (f forgettable) from(ctx context.Context, m *model.Model, how model.Forgetting) (model.Forgotten, error) {
	if len(f.classes) > 0 {
		return m.ForgetClasses(ctx, f.classes, how)
	}
	return m.ForgetSamples(ctx, f.samples, how)
}

// in reports whether a model has learned any of it.
func (f forgettable) in(m *model.Model) bool {
	learned := m.LearnedAs()
	return slices.ContainsFunc(f.classes, func(class string) bool { return slices.Contains(m.Classes(), class) }) ||
		slices.ContainsFunc(f.samples.Content, func(h model.Hash) bool { return len(learned(h)) > 0 })
}

// finishForgetting is for a model that has nothing of what is to be forgotten. That may
// be because an earlier run was interrupted after it had saved the model: then it
// removes what that run would have removed. If there is nothing of that, refused is
// the error.
func finishForgetting(m *model.Model, q ForgetRequest, what forgettable, refused error) (*Forgotten, error) {
	if q.to() != q.Model || what.in(m) {
		return nil, refused
	}
	holds := what.in
	if q.KeepPrevious {
		holds = nil
	}
	removed, err := model.FinishForgetting(q.Model, holds)
	if err != nil || len(removed) == 0 {
		return nil, errors.Join(refused, err)
	}
	f := &Forgotten{}
	for _, name := range removed {
		f.lines.add("removed %s, which held what was forgotten", name)
	}
	f.lines.add("%s had forgotten it already; what was left of that is done", q.Model)
	return f, nil
}

// listed returns the samples in a list, which names images, or rows of
// the features.
func (named inputs) listed(ctx context.Context, m *model.Model, list string) (b model.Batch, err error) {
	var wanted []string
	if named.Features != "" {
		if wanted, err = dataset.ReadPaths(list, named.Scan.List()); err != nil {
			return b, err
		}
		named.Scan = named.Scan.withoutColumns()
	} else {
		named.List, named.Images = list, cmp.Or(named.Images, ".")
	}
	in, err := named.open(ctx, m, anyImages)
	if err != nil {
		return b, err
	}
	defer closeInto(in, &err)
	rows := embedding.Rows(in)
	if wanted != nil {
		rows = only{in, wanted}
	}
	e, err := embedding.Collect(ctx, rows)
	if err != nil {
		return b, err
	}
	for _, path := range wanted {
		if !slices.ContainsFunc(e.Samples, func(s dataset.Sample) bool { return s.Path == path }) {
			return b, fmt.Errorf("%s: %s is not in %s", filepath.Base(list), path, named.Features)
		}
	}
	return model.NewBatch(e), e.Outcome.Complete(filepath.Base(list))
}

// only filters rows by their paths.
type only struct {
	embedding.Rows
	paths []string
}

// Each implements embedding.Rows.
func (o only) Each(ctx context.Context, emit func(embedding.Item) error) (embedding.Outcome, error) {
	wanted := make(map[string]bool, len(o.paths))
	for _, path := range o.paths {
		wanted[path] = true
	}
	return o.Rows.Each(ctx, func(item embedding.Item) error {
		if !wanted[item.Sample.Path] {
			return nil
		}
		return emit(item)
	})
}

// learned returns a function that finds embeddings that a model has learned: in
// the cache, and in the source.
func (in inputs) learned(m *model.Model) func(context.Context, map[model.Hash]bool) (map[model.Hash][]float32, error) {
	return func(ctx context.Context, wanted map[model.Hash]bool) (found map[model.Hash][]float32, err error) {
		stored, err := in.embed.Stored(m.Provenance)
		if err != nil {
			return nil, err
		}
		found = make(map[model.Hash][]float32, len(wanted))
		for h := range wanted {
			if row, ok := stored.Get(cache.Hash(h)); ok {
				found[h] = row
			}
		}
		if err := stored.Close(); err != nil {
			return nil, err
		}
		if len(found) == len(wanted) || in.Images == "" && in.Features == "" {
			return found, nil
		}
		from, err := in.open(ctx, m, anyImages)
		if err != nil {
			return nil, err
		}
		defer closeInto(from, &err)
		_, err = from.Each(ctx, func(item embedding.Item) error {
			if item.Err == nil && wanted[item.Hash] && found[item.Hash] == nil {
				found[item.Hash] = slices.Clone(item.Vector)
			}
			return nil
		})
		return found, err
	}
}

// viewsOf returns a function that embeds augmented views of the images in
// the folder, nil if the projection of m is not trained on any.
func (in inputs) viewsOf(ctx context.Context, m *model.Model) (func(blas32.General) ([]blas32.General, error), error) {
	if m.Predictor.Views() == 0 || in.Images == "" {
		return nil, nil
	}
	from, err := in.open(ctx, m, anyImages)
	if err != nil {
		return nil, err
	}
	e, err := embedding.Collect(ctx, from)
	if err = errors.Join(err, from.Close()); err != nil {
		return nil, err
	}
	return e.Views(ctx, in.embed, from.root, m.Predictor.Views()), nil
}

// saveForgotten saves a model that has forgotten, and says which files went with
// that and which still hold what was forgotten.
func (r *run) saveForgotten(m *model.Model, q ForgetRequest, f *Forgotten) error {
	before, err := model.Beside(q.to())
	if err != nil {
		return err
	}
	if err := save(m, q.to()); err != nil {
		return err
	}
	after, err := model.Beside(q.to())
	if err != nil {
		return err
	}
	for _, name := range before {
		if !slices.Contains(after, name) {
			f.lines.add("removed %s, which held what was forgotten", name)
		}
	}
	var holding []string
	if q.KeepPrevious {
		holding = slices.DeleteFunc(after, func(name string) bool { return name == m.StatisticsPath() })
	}
	if q.to() != q.Model {
		holding = append(holding, q.Model)
	}
	if len(holding) > 0 {
		r.log.Warn("these files still hold what was forgotten", "files", strings.Join(holding, ", "))
	}
	return nil
}

// tell says what a model has forgotten, and how.
func (f *Forgotten) tell(m *model.Model, classes []string, done model.Forgotten) {
	l, left := &f.lines, plural(len(m.Classes()), "class", "classes")
	switch len(classes) {
	case 0:
		l.add("forgot %s; left: %d in %s", plural(done.Samples, "sample", "samples"), m.SampleCount(), left)
	case 1:
		l.add("forgot class %s; left: %s", classes[0], left)
	default:
		l.add("forgot classes %s; left: %s", strings.Join(classes, ", "), left)
	}
	switch done.Way {
	case model.Relearned:
		l.add("learned the other %d again: the model is the one that never saw what was forgotten", done.Learned)
	case model.Subtracted:
		l.add("subtracted, exactly up to rounding")
	}
}

// forgetTaught forgets photos, or all photos of classes, of a model that follows from a journal.
func (r *run) forgetTaught(ctx context.Context, q ForgetRequest) (*Forgotten, error) {
	if err := reachable(q.Model); err != nil {
		return nil, err
	}
	if q.Out != "" || q.Approximate || q.KeepPrevious || len(q.Stats) > 0 {
		return nil, misuse("%s was taught with serve, and its journal forgets without a trace: give only {class}, or "+
			"{samples}, the list of the photos, with {images} or {features}", q.Model)
	}
	m, err := model.Load(teach.StartFile(q.Model))
	if err != nil {
		return nil, err
	}
	what, err := r.toForget(ctx, m, q)
	if err != nil {
		return nil, err
	}
	pictures, err := r.folder(thumbnails)
	if err != nil {
		return nil, err
	}
	work := teach.Work{Classes: what.classes}
	for _, h := range what.samples.Content {
		work.Forget = append(work.Forget, teach.ID(h))
	}
	done, err := r.do(ctx, q.Model, m, max(what.samples.X.Cols, m.Dim(), m.Provenance.Dim), work)
	if err := errors.Join(err, teach.RemoveThumbnails(pictures, done.Forgot)); err != nil {
		return nil, err
	}
	f := &Forgotten{}
	f.lines.add("forgot %d of %s, in the journal and the model", done.Removed,
		plural(len(done.Forgot), "photo", "photos"))
	for _, trace := range done.Left {
		f.lines.add("not reached: %s", trace)
	}
	return f, nil
}
