package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/cache"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/classstats"
	"github.com/seed-90d10d51/pipeline/research/training"
)

// A forgetting holds the flags of pipeline forget.
type forgetting struct {
	samples                   string
	classes, stats            []string
	approximate, keepPrevious bool
}

func newForget() *cobra.Command {
	var f forgetting
	cmd := &cobra.Command{
		Use:   "forget MODEL --class NAME | --samples FILE",
		Short: "Remove a class or single images from a model",
		Long: `Removes classes with everything learned about them, or the images in a list file
(paths relative to --images, or to the working directory). The result is the model
that never saw them, byte for byte: it learns everything else again, which takes as
long as training. The embeddings for that come from the model itself if it keeps them
(up to 20 images per class), from the cache, and from --images or --features; models of
statistics learn from their own statistics, or from those that --stats names.

What only its own class depends on, such as a class learned after the base session,
is subtracted if embeddings are missing. Otherwise the command refuses and says what
is missing. --approximate removes only what is stored by class, and leaves traces in
what all classes share: settings, covariances, the temperature and thresholds.

The previous version of the file and its statistics are removed, because they still
hold what was forgotten. The images and their embeddings in the cache stay. If it is
interrupted, run it again.

If the model was taught with serve, the photos are forgotten in MODEL.journal and
MODEL.base, too, and the command says where else traces are.`,
		Example: "  pipeline forget photos.model --class dalmatian",
		Args:    arguments,
		RunE: command(func(ctx context.Context, a *app, args []string) error {
			if (len(f.classes) == 0) == (f.samples == "") {
				return usagef("give either --class or --samples")
			}
			f.classes = slices.Compact(slices.Sorted(slices.Values(f.classes)))
			return a.forget(ctx, args[0], f)
		}),
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.classes, "class", nil, "`name` of a class; may be repeated")
	flags.StringVar(&f.samples, "samples", "",
		"`file` that lists the images (paths, or a table as of --list); - for stdin, unless with --features")
	flags.StringArrayVar(&f.stats, "stats", nil, "`file` of statistics that the model was trained on; may be repeated")
	flags.BoolVar(&f.approximate, "approximate", false,
		"leave traces in what all classes share, rather than learn again")
	flags.BoolVar(&f.keepPrevious, "keep-previous", false, "keep the previous version and its statistics")
	inputFlags(cmd, "images", "features")
	columnFlags(cmd)
	outFlag(cmd, "`file` for the changed model (default: MODEL itself)")
	backboneFlag(cmd)
	return cmd
}

func (a *app) forget(ctx context.Context, file string, f forgetting) error {
	if a.config.Features != "" && a.config.Images != "" {
		return usagef("--features and --images are two different inputs: give only one")
	}
	if taught(file) {
		return a.forgetTaught(ctx, file, f)
	}
	if err := writable(a.destination(file)); err != nil {
		return err
	}
	m, err := a.loadModel(file)
	if err != nil {
		return err
	}
	trainings := a.checkpoint(a.destination(file))
	how, err := a.meansToForget(ctx, m, file, f)
	if err != nil {
		return err
	}
	how.Checkpoint = trainings
	what, err := a.toForget(ctx, m, f)
	if err != nil {
		return err
	}
	done, err := what.from(ctx, m, how)
	if nothing := (*model.NotLearnedError)(nil); errors.Is(err, classifier.ErrUnknownClass) ||
		errors.As(err, &nothing) {
		return a.finishForgetting(m, file, f, what, err)
	}
	if missing := (*model.MissingRowsError)(nil); errors.As(err, &missing) {
		return fmt.Errorf("%w. They are neither in the model nor in the cache: give the images with --images, the "+
			"embeddings with --features, or the statistics that the model was trained on with --stats; --approximate "+
			"does without and leaves traces", err)
	}
	if err != nil {
		return err
	}
	m.ToolVersion, m.DropPrevious = version, !f.keepPrevious
	if err := a.saveForgotten(m, file, f); err != nil {
		return err
	}
	if err := errors.Join(trainings.Close(), training.Finish(projectionFolder(a.destination(file)))); err != nil {
		return err
	}
	a.sayAll(forgottenLines(m, f.classes, done))
	if done.Way == model.Approximated {
		a.log.Warn("forgot approximately: what all classes share keeps traces of it")
	}
	return nil
}

// meansToForget returns what forgetting may need beyond what the model keeps.
func (a *app) meansToForget(ctx context.Context, m *model.Model, file string, f forgetting) (model.Forgetting, error) {
	in := a.inputs()
	if f.samples != "" { // the columns are those of the list alone
		in = in.withoutColumns()
	}
	how := model.Forgetting{Rows: in.learned(m), Approximate: f.approximate}
	how.Env = training.Env(projectionFolder(a.destination(file)), false, !a.config.Classifier.DKL.Resume, a.log.Info)
	var err error
	if how.Env.Views, err = in.viewsOf(ctx, m); err != nil {
		return how, err
	}
	for _, name := range f.stats {
		s, err := classstats.Load(name)
		if err != nil {
			return how, err
		}
		how.Statistics = append(how.Statistics, s)
	}
	return how, nil
}

// A forgettable is what pipeline forget is asked to forget: classes, or else samples.
type forgettable struct {
	classes []string
	samples model.Batch
}

func (a *app) toForget(ctx context.Context, m *model.Model, f forgetting) (what forgettable, err error) {
	what.classes = f.classes
	if f.samples != "" {
		what.samples, err = a.listed(ctx, m, f.samples)
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
func (a *app) finishForgetting(m *model.Model, file string, f forgetting, what forgettable, refused error) error {
	if a.destination(file) != file || what.in(m) {
		return refused
	}
	holds := what.in
	if f.keepPrevious {
		holds = nil
	}
	removed, err := model.FinishForgetting(file, holds)
	if err != nil || len(removed) == 0 {
		return errors.Join(refused, err)
	}
	for _, name := range removed {
		a.say("removed %s, which held what was forgotten", name)
	}
	a.say("%s had forgotten it already; what was left of that is done", file)
	return nil
}

// listed returns the samples in a list, which names images, or rows of
// --features.
func (a *app) listed(ctx context.Context, m *model.Model, list string) (b model.Batch, err error) {
	named := a.inputs()
	var wanted []string
	if named.features != "" {
		if wanted, err = dataset.ReadPaths(list, named.scan.List()); err != nil {
			return b, err
		}
		named = named.withoutColumns()
	} else {
		named.list, named.images = list, cmp.Or(named.images, ".")
	}
	in, err := named.open(ctx, m, anyImages)
	if err != nil {
		return b, err
	}
	defer closeInto(in, &err)
	rows := embed.Rows(in)
	if wanted != nil {
		rows = only{in, wanted}
	}
	e, err := embed.Collect(ctx, rows)
	if err != nil {
		return b, err
	}
	for _, path := range wanted {
		if !slices.ContainsFunc(e.Samples, func(s dataset.Sample) bool { return s.Path == path }) {
			return b, fmt.Errorf("%s: %s is not in %s", filepath.Base(list), path, a.config.Features)
		}
	}
	return model.NewBatch(e), e.Outcome.Complete(filepath.Base(list))
}

// only filters rows by their paths.
type only struct {
	embed.Rows
	paths []string
}

// Each implements embed.Rows.
func (o only) Each(ctx context.Context, emit func(embed.Item) error) (embed.Outcome, error) {
	wanted := make(map[string]bool, len(o.paths))
	for _, path := range o.paths {
		wanted[path] = true
	}
	return o.Rows.Each(ctx, func(item embed.Item) error {
		if !wanted[item.Sample.Path] {
			return nil
		}
		return emit(item)
	})
}

// withoutColumns returns the inputs with no columns named, as those of another list.
func (in inputs) withoutColumns() inputs {
	in.scan.PathColumn, in.scan.LabelColumn, in.scan.PathSuffix = "", "", ""
	return in
}

// learned returns a function that finds embeddings that a model has learned: in
// the cache, and in --images or --features.
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
		if len(found) == len(wanted) || in.images == "" && in.features == "" {
			return found, nil
		}
		from, err := in.open(ctx, m, anyImages)
		if err != nil {
			return nil, err
		}
		defer closeInto(from, &err)
		_, err = from.Each(ctx, func(item embed.Item) error {
			if item.Err == nil && wanted[item.Hash] && found[item.Hash] == nil {
				found[item.Hash] = slices.Clone(item.Vector)
			}
			return nil
		})
		return found, err
	}
}

// viewsOf returns a function that embeds augmented views of the images in
// --images, nil if the projection of m is not trained on any.
func (in inputs) viewsOf(ctx context.Context, m *model.Model) (func(blas32.General) ([]blas32.General, error), error) {
	if m.Predictor.Views() == 0 || in.images == "" {
		return nil, nil
	}
	from, err := in.open(ctx, m, anyImages)
	if err != nil {
		return nil, err
	}
	e, err := embed.Collect(ctx, from)
	if err = errors.Join(err, from.Close()); err != nil {
		return nil, err
	}
	return e.Views(ctx, in.embed, from.root, m.Predictor.Views()), nil
}

// saveForgotten saves a model that has forgotten, and says which files went with
// that and which still hold what was forgotten.
func (a *app) saveForgotten(m *model.Model, file string, f forgetting) error {
	to := a.destination(file)
	before, err := model.Beside(to)
	if err != nil {
		return err
	}
	if err := a.save(m, file); err != nil {
		return err
	}
	after, err := model.Beside(to)
	if err != nil {
		return err
	}
	for _, name := range before {
		if !slices.Contains(after, name) {
			a.say("removed %s, which held what was forgotten", name)
		}
	}
	var holding []string
	if f.keepPrevious {
		holding = slices.DeleteFunc(after, func(name string) bool { return name == m.StatisticsPath() })
	}
	if to != file {
		holding = append(holding, file)
	}
	if len(holding) > 0 {
		a.log.Warn("these files still hold what was forgotten", "files", strings.Join(holding, ", "))
	}
	return nil
}

// forgottenLines say what a model has forgotten, and how.
func forgottenLines(m *model.Model, classes []string, done model.Forgotten) (l lines) {
	switch len(classes) {
	case 0:
		l.add("forgot %s; left: %d in %s", plural(done.Samples, "sample", "samples"), m.SampleCount(),
			plural(len(m.Classes()), "class", "classes"))
	case 1:
		l.add("forgot class %s; left: %s", classes[0], plural(len(m.Classes()), "class", "classes"))
	default:
		l.add("forgot classes %s; left: %s", strings.Join(classes, ", "), plural(len(m.Classes()), "class", "classes"))
	}
	switch done.Way {
	case model.Relearned:
		l.add("learned the other %d again: the model is the one that never saw what was forgotten", done.Learned)
	case model.Subtracted:
		l.add("subtracted, exactly up to rounding")
	}
	return l
}
