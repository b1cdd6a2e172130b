package command

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/advice"
	"github.com/seed-90d10d51/pipeline/research/training"
	"github.com/seed-90d10d51/pipeline/teach"
)

func newTrain() *cobra.Command {
	var stats, prefer string
	cmd := &cobra.Command{
		Use:   "train --images DIR | --features FEATDIR | --stats STATS | --texts FILE --out MODEL",
		Short: "Train a model on its base classes",
		Long: `Trains a model on images in one folder per class (DIR/CLASS/IMAGE), on embeddings, or
on statistics collected with pipeline stats. Add more classes later with pipeline learn.

While most classes have fewer than 12 images, the method is plda. With more, several
(plda, ncm, lda, ppca, plda+) are compared on images that are held out, and plda is kept
unless another names more of them correctly, by two standard errors. --classifier
NAME trains one method, in a fraction of the time.

--dkl trains a projection first (classifier.dkl.…), which pays for ncm and ppca with
sixteen or more images per class. It is kept only if the method names more held-out
images correctly behind it, which takes at most one more training to find out;
--set classifier.dkl.keep=always skips that. A run that was stopped resumes from OUT.dkl,
one of --classifier vargp from OUT.training.

--prior FILE, made by pipeline prior from other labelled images, tells how images of
one class differ under the backbone. It helps with one to eight images per class, and
becomes part of the model. The built-in backbone brings one: --prior default.

Where MODEL was taught with serve, the photos are added to its journal, as pipeline learn
does, and nothing that was decided is lost.

--texts FILE has the classes, one per line, or a table with the columns class and text;
the text side of the backbone (CLIP) reads them. Without images, the model knows its
classes by these names alone; with images, both count as much as suits images that are
left out. A class may have only texts, or only images. The method is plda.`,
		Example: "  pipeline train --images photos --classifier ncm --out photos.model\n" +
			"  pipeline train --images photos --classifier ncm --dkl --out photos.model\n" +
			"  pipeline train --texts names.txt --backbone clip-b32 --out photos.model",
		Args: arguments,
		RunE: command(func(ctx context.Context, a *app, _ []string) error {
			if stats != "" {
				return a.trainStats(ctx, stats)
			}
			return a.train(ctx, prefer)
		}),
	}
	inputFlags(cmd, "images", "list", "features")
	predictionsFlag(cmd)
	boxFlags(cmd)
	cmd.Flags().StringVar(&stats, "stats", "", "`file` of statistics made by pipeline stats")
	outFlag(cmd, "`file` for the model")
	learnedFlag(cmd)
	preferFlag(cmd, &prefer)
	backboneFlag(cmd)
	cmd.Flags().String("classifier", method.Auto, "method: "+
		strings.Join(append(methodsWith[classifier.Learner](), method.Auto), ", "))
	config.Bind(cmd.Flags(), "classifier", "classifier.name")
	priorFlag(cmd)
	textsFlag(cmd)
	dklFlags(cmd)
	return cmd
}

// methodsWith returns the methods whose heads implement an optional interface.
func methodsWith[T any]() []string {
	var names []string
	for _, m := range method.Methods() {
		head, err := method.New(m.Name, method.DefaultConfig())
		if _, ok := head.(T); ok && err == nil {
			names = append(names, m.Name)
		}
	}
	return names
}

func (a *app) train(ctx context.Context, prefer string) error {
	if taught(a.config.Out) {
		return a.trainTaught(ctx, a.config.Out, prefer)
	}
	if err := a.outFile(); err != nil {
		return err
	}
	if err := onlyTaught(prefer, a.config.Out); err != nil {
		return err
	}
	settings := a.modelSettings()
	var err error
	var named embed.Provenance
	if settings.Words, named, err = a.words(ctx, nil); err != nil {
		return err
	}
	if settings.Words != nil && a.namesOnly() {
		return a.trainNames(settings, named)
	}
	in := a.inputs()
	e, b, err := in.labelled(ctx, nil)
	if err != nil {
		return err
	}
	if err := e.Provenance.Compatible(named, "in the texts"); err != nil {
		return err
	}
	settings.Provenance = e.Provenance
	settings.Provenance.Text = named.Text
	products, err := a.products()
	if err != nil {
		return err
	}
	settings.Backend, settings.Comparing = products, a.bars.methods
	if settings.Prior, err = a.prior(); err != nil {
		return err
	}
	trainings := a.checkpoint(a.config.Out)
	settings.Heads.Checkpoint = trainings
	if err := a.trainProjection(ctx, &settings, e); err != nil {
		return err
	}
	m, outcome, err := model.Train(ctx, settings, b)
	if err != nil {
		return err
	}
	if err := a.save(m, a.config.Out); err != nil {
		return err
	}
	if err := errors.Join(trainings.Close(), training.Finish(projectionFolder(a.config.Out))); err != nil {
		return err
	}
	a.sayTrained(m, outcome)
	a.sayAll(wordLines(m))
	a.warn(advice.Nesting(m.Classes(), outcome.NewClasses, in.folders(e.Samples)))
	a.sayAll(advice.Expected(m))
	if a.json != "" {
		if err := a.sayLearned(m, a.config.Out, outcome, len(e.Outcome.Problems)); err != nil {
			return err
		}
	}
	return writeProblems(e.Outcome.Problems, a.config.Out+".errors.csv")
}

// sayTrained says why the method was chosen, if it was, what was learned and what prior
// the model has.
func (a *app) sayTrained(m *model.Model, outcome model.Outcome) {
	if m.Choice != nil {
		a.say("chose %s", m.Choice.Why)
	}
	a.sayOutcome("trained "+m.Method+":", m.Classes(), outcome)
	a.sayAll(priorLines(m))
}

func (a *app) modelSettings() model.Settings {
	c := a.config.Classifier
	var classFrom string
	if a.config.Images != "" && a.config.List == "" {
		classFrom = a.config.Scan.ClassFrom
	}
	return model.Settings{
		ClassFrom: classFrom,
		Method:    c.Name, Heads: c.Heads(a.config.Seed), Temperature: c.Tempered(), OldShare: c.OldShare,
		WithoutStatistics: !c.Statistics,
		Seed:              a.config.Seed, ToolVersion: version,
	}
}

func newLearn() *cobra.Command {
	var stats, from, prefer string
	cmd := &cobra.Command{
		Use:   "learn MODEL --images DIR | --features FEATDIR | --stats STATS | --from MODEL2 [--out MODEL3]",
		Short: "Add new classes, or more images of old ones, to a model",
		Long: `Teaches a model one more session, from as little as one image per class, without
changing what it has learned before. Images that it already knows change nothing. A
vargp model trains for every session, saves its progress in OUT.training, and resumes.

--stats adds statistics collected with pipeline stats, as if their images were learned;
those that it already knows count once.

New classes of an hppca model join its existing super-classes;
--set classifier.hppca.refresh=true rebuilds all super-classes.

Where MODEL was taught with serve, this is one line of its journal, which the page can
undo, even while a server has it open. If a photo was decided to be of another class,
the command names it and changes nothing without --prefer.

--from MODEL2 adds what was decided with another model of the same network, which was
taught with serve or start.

--texts FILE adds names of classes, new or known, to a plda model (see pipeline train).`,
		Example: "  pipeline learn photos.model --images new-classes\n" +
			"  pipeline learn mine.project/photos.model --from theirs.project/photos.model",
		Args: arguments,
		RunE: command(func(ctx context.Context, a *app, args []string) error {
			switch {
			case from != "":
				return a.learnFrom(ctx, args[0], from, stats, prefer)
			case stats != "":
				return a.learnStats(ctx, args[0], stats)
			}
			return a.learn(ctx, args[0], prefer)
		}),
	}
	inputFlags(cmd, "images", "list", "features")
	predictionsFlag(cmd)
	boxFlags(cmd)
	cmd.Flags().StringVar(&from, "from", "", "`file` of another model, whose decisions are added")
	cmd.Flags().StringVar(&stats, "stats", "", "`file` of statistics made by pipeline stats")
	outFlag(cmd, "`file` for the changed model (default: MODEL itself)")
	learnedFlag(cmd)
	preferFlag(cmd, &prefer)
	backboneFlag(cmd)
	textsFlag(cmd)
	return cmd
}

func (a *app) learn(ctx context.Context, file, prefer string) error {
	to := a.destination(file)
	if taught(to) && to == file {
		return a.learnTaught(ctx, file, prefer)
	}
	if err := onlyTaught(prefer, to); err != nil {
		return err
	}
	m, err := a.loadModel(file)
	if err != nil {
		return err
	}
	if err := replaceable(to); err != nil {
		return err
	}
	if done, err := a.learnNames(ctx, m, file); done || err != nil {
		return err
	}
	in := a.inputs()
	e, b, err := in.labelled(ctx, m)
	if err != nil {
		return err
	}
	trainings := a.checkpoint(a.destination(file))
	classifier.UseCheckpoint(m.Predictor.Head, trainings)
	outcome, err := m.Learn(ctx, b)
	if err == nil {
		err = a.refresh(ctx, m)
	}
	if err != nil {
		return err
	}
	if outcome.Changed() {
		m.ToolVersion = version
	}
	if err := a.save(m, file); err != nil {
		return err
	}
	if err := trainings.Close(); err != nil {
		return err
	}
	a.sayOutcome("learned", m.Classes(), outcome)
	a.warn(advice.Nesting(m.Classes(), outcome.NewClasses, in.folders(e.Samples)))
	a.sayAll(advice.Expected(m))
	if a.json != "" {
		if err := a.sayLearned(m, a.destination(file), outcome, len(e.Outcome.Problems)); err != nil {
			return err
		}
	}
	return writeProblems(e.Outcome.Problems, a.destination(file)+".errors.csv")
}

// refresh brings a model up to date if the configuration of its method asks for it. A
// model whose own configuration asks for it has already done so.
func (a *app) refresh(ctx context.Context, m *model.Model) error {
	row, err := method.Find(m.Method)
	if err != nil || !row.Refreshes(a.config.Classifier.Methods.Settings(row)) {
		return err
	}
	return m.Refresh(ctx)
}

// checkpoint returns the folder that stores long trainings of a model's head until
// the model is saved, so that the same command can resume them.
func (a *app) checkpoint(file string) *checkpoint.Folder {
	return &checkpoint.Folder{Dir: file + ".training", Restart: !a.config.Classifier.DKL.Resume, Say: a.log.Info}
}

// destination returns --out, or by default the file of the model itself.
func (a *app) destination(file string) string {
	if a.config.Out != "" {
		return a.config.Out
	}
	return file
}

// save writes a model, unless a server was started on it since the command began.
func (a *app) save(m *model.Model, file string) error {
	if err := teach.Free(a.destination(file)); err != nil {
		return err
	}
	return m.Save(a.destination(file))
}
