package command

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/method"
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
becomes part of the model.

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
			return a.train(ctx, stats, prefer)
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
		strings.Join(append(pipeline.MethodsWith[classifier.Learner](), method.Auto), ", "))
	config.Bind(cmd.Flags(), "classifier", "classifier.name")
	priorFlag(cmd)
	textsFlag(cmd)
	dklFlags(cmd)
	return cmd
}

func (a *app) train(ctx context.Context, stats, prefer string) error {
	choice, err := pipeline.Preference(prefer)
	if err != nil {
		return err
	}
	if err := errors.Join(a.require([2]string{"out", a.config.Out}), a.onlyStats(stats)); err != nil {
		return err
	}
	_, l, err := a.Train(ctx, a.source(), func(q *pipeline.TrainRequest) {
		q.Texts, q.Stats, q.Out, q.Prefer = a.config.Texts, stats, a.config.Out, choice
		q.Classifier, q.Seed = a.config.Classifier, a.config.Seed
	})
	return a.learned(l, err)
}

// learned prints what was learned.
func (a *app) learned(l *pipeline.Learned, err error) error {
	if err := a.finish(l, err); err != nil && !isPartial(err) {
		return err
	}
	if a.json != "" && l.Model != nil {
		if err := a.writeJSON(l.JSON()); err != nil {
			return err
		}
	}
	return err
}

// onlyStats returns a usage error if there is a second input besides --stats.
func (a *app) onlyStats(stats string) error {
	c := a.config
	switch {
	case stats == "":
		return nil
	case c.Images != "" || c.List != "" || c.Features != "":
		return usagef("--stats and --images, --list or --features are different inputs: give only one")
	case c.Texts != "":
		return usagef("--texts goes with images or alone, not with --stats: learn the texts afterwards")
	}
	return nil
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
			return a.learn(ctx, args[0], from, stats, prefer)
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

func (a *app) learn(ctx context.Context, file, from, stats, prefer string) error {
	choice, err := pipeline.Preference(prefer)
	if err != nil {
		return err
	}
	c := a.config
	if from != "" && cmp.Or(c.Images, c.List, c.Features, c.Texts, stats, c.Out) != "" {
		return usagef("--from adds the decisions of another model to %s, and nothing else: give it alone", file)
	}
	if err := a.onlyStats(stats); err != nil {
		return err
	}
	return a.learned(a.Learn(ctx, pipeline.LearnRequest{
		Model: file, Out: c.Out, From: a.source(), Texts: c.Texts, Stats: stats, Other: from, Prefer: choice,
		Methods: c.Classifier.Methods, Restart: !c.Classifier.DKL.Resume, OldShare: c.Classifier.OldShare,
	}))
}

func learnedFlag(cmd *cobra.Command) {
	jsonFlag(cmd.Flags(), "write what was learned, the classes and advice as JSON")
}

// preferFlag adds --prefer.
func preferFlag(cmd *cobra.Command, prefer *string) {
	cmd.Flags().StringVar(prefer, "prefer", "", "`truth` to keep where a photo was decided to be of another class: "+
		"decisions or list")
}

// textsFlag adds --texts and --tokenizer.
func textsFlag(cmd *cobra.Command) {
	cmd.Flags().String("texts", "", "`file` of classes, one per line, or a table class,text; or a TEXTDIR of embed")
	bind(cmd.Flags(), "", "texts")
	tokenizerFlag(cmd)
}

func tokenizerFlag(cmd *cobra.Command) {
	cmd.Flags().String("tokenizer", "", "`file` tokenizer.json of the text side, if not beside it")
	config.Bind(cmd.Flags(), "tokenizer", "text.tokenizer")
}

// priorFlag adds --prior.
func priorFlag(cmd *cobra.Command) {
	cmd.Flags().String("prior", "",
		"`file` made by pipeline prior; for few images per class (plda, plda+, ppca-eb)")
	config.Bind(cmd.Flags(), "prior", "classifier.prior")
}

// predictionsFlag adds --predictions.
func predictionsFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("predictions", false,
		"count labels of a list that nobody decided, too (by is empty or bulk)")
	bind(cmd.Flags(), "scan.", "predictions")
}

// dklFlags adds the flags of deep kernel learning.
func dklFlags(cmd *cobra.Command) {
	cmd.Flags().Bool("dkl", false,
		"first train a projection of the embeddings on the base classes (deep kernel learning)")
	config.Bind(cmd.Flags(), "dkl", "classifier.dkl.enabled")
	resumeFlag(cmd)
}

func resumeFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("resume", true, "resume a run that was stopped; --resume=false starts over")
	config.Bind(cmd.Flags(), "resume", "classifier.dkl.resume")
}
