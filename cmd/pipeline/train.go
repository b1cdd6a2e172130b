package main

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/text/unicode/norm"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/classifier/hppca"
	"github.com/seed-90d10d51/pipeline/config"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

func newTrain() *cobra.Command {
	var stats string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "train --images DIR | --features FEATDIR | --stats STATS --out MODEL",
		Short: "Train a model on its base classes",
		Long: `Trains a model on images in one folder per class (DIR/CLASS/IMAGE), on embeddings, or
on statistics collected with pipeline stats, possibly on other machines. Add more
classes later with pipeline learn.

While most classes have fewer than 12 images, the method is plda. With more, several
(plda, ncm, lda, ppca, plda+) are compared on images that are held out, and plda is kept
unless another names more of them correctly, by two standard errors. train says why it
chose, and inspect shows the figures; later sessions do not choose again. --classifier
NAME trains one method, in a fraction of the time.

--dkl trains a projection of the embeddings on the base classes first
(classifier.dkl.…), for any method, and keeps it only if the method names more
held-out images correctly behind it; --set classifier.dkl.keep=always skips that. This
takes long: every epoch is saved in OUT.dkl, and the same command resumes a run that
was stopped. The same holds for --classifier
vargp, which saves its trainings in OUT.training until the model is written.

--prior FILE, made by pipeline prior from other labelled images, tells how images of
one class differ under the backbone. It helps with one to eight images per class, and
becomes part of the model.`,
		Example: "  pipeline train --images photos --classifier ncm --out photos.model\n" +
			"  pipeline train --images photos --classifier gptree --dkl --out photos.model",
		Args: noArguments,
		RunE: command(func(ctx context.Context, a *app, _ []string) error {
			if stats != "" {
				return a.trainStats(ctx, stats, asJSON)
			}
			return a.train(ctx, asJSON)
		}),
	}
	inputFlags(cmd, "images", "list", "features")
	cmd.Flags().StringVar(&stats, "stats", "", "`file` of statistics made by pipeline stats")
	outFlag(cmd, "`file` for the model")
	learnedFlag(cmd, &asJSON)
	backboneFlag(cmd)
	cmd.Flags().String("classifier", method.Auto, "method: "+strings.Join(append(methodsWith[classifier.Learner](), method.Auto), ", "))
	config.Bind(cmd.Flags(), "classifier", "classifier.name")
	priorFlag(cmd)
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

func (a *app) train(ctx context.Context, asJSON bool) error {
	a.quiet = a.quiet || asJSON
	if err := a.outFile(); err != nil {
		return err
	}
	e, err := a.labelled(ctx, nil)
	if err != nil {
		return err
	}
	settings := a.modelSettings()
	settings.Provenance = e.Provenance
	products, err := a.products()
	if err != nil {
		return err
	}
	settings.Backend, settings.Comparing = products, a.comparing
	if settings.Prior, err = a.prior(); err != nil {
		return err
	}
	trainings := a.checkpoint(a.config.Out)
	settings.Heads.Checkpoint = trainings
	if err := a.trainProjection(ctx, &settings, e); err != nil {
		return err
	}
	m, outcome, err := model.Train(ctx, settings, model.NewBatch(e))
	if err != nil {
		return err
	}
	if err := a.save(m, a.config.Out); err != nil {
		return err
	}
	if err := trainings.Close(); err != nil {
		return err
	}
	a.sayChoice(m)
	a.sayOutcome("trained "+m.Method, m.Classes(), outcome)
	a.sayPrior(m)
	a.warnNested(m.Classes(), outcome.NewClasses, e.Samples)
	a.sayExpected(m)
	if asJSON {
		if err := a.sayLearned(m, a.config.Out, outcome, len(e.Outcome.Problems)); err != nil {
			return err
		}
	}
	return writeProblems(e.Outcome.Problems, a.config.Out+".errors.csv")
}

// sayChoice says why the method was chosen, if it was.
func (a *app) sayChoice(m *model.Model) {
	if m.Choice != nil {
		a.say("chose %s", m.Choice.Why)
	}
}

func (a *app) modelSettings() model.Settings {
	c := a.config.Classifier
	return model.Settings{
		Method: c.Name, Heads: c.Heads(a.config.Seed), Temperature: c.Tempered(), OldShare: c.OldShare, WithoutStatistics: !c.Statistics,
		Seed: a.config.Seed, ToolVersion: version,
	}
}

func newLearn() *cobra.Command {
	var stats string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "learn MODEL --images DIR | --features FEATDIR | --stats STATS [--out MODEL2]",
		Short: "Add new classes, or more images of old ones, to a model",
		Long: `Teaches a model one more session, from as little as one image per class, without
changing what it has learned before. Images that it already knows change nothing, so
an interrupted session can simply be learned again. A vargp model trains for every
session: its progress is saved in OUT.training, and the same command resumes.

--stats adds statistics collected with pipeline stats, possibly on other machines.
The result is the model of the images behind them; images that it already knows
count once.

New classes of an hppca model join its existing super-classes;
--set classifier.hppca.refresh=true rebuilds all super-classes.`,
		Example: "  pipeline learn photos.model --images new-classes",
		Args:    exactly(1),
		RunE: command(func(ctx context.Context, a *app, args []string) error {
			if stats != "" {
				return a.learnStats(ctx, args[0], stats, asJSON)
			}
			return a.learn(ctx, args[0], asJSON)
		}),
	}
	inputFlags(cmd, "images", "list", "features")
	cmd.Flags().StringVar(&stats, "stats", "", "`file` of statistics made by pipeline stats")
	outFlag(cmd, "`file` for the changed model (default: MODEL itself)")
	learnedFlag(cmd, &asJSON)
	backboneFlag(cmd)
	return cmd
}

func (a *app) learn(ctx context.Context, file string, asJSON bool) error {
	a.quiet = a.quiet || asJSON
	m, err := a.loadModel(file)
	if err != nil {
		return err
	}
	if err := writable(a.destination(file)); err != nil {
		return err
	}
	e, err := a.labelled(ctx, m)
	if err != nil {
		return err
	}
	trainings := a.checkpoint(a.destination(file))
	classifier.UseCheckpoint(m.Predictor.Head, trainings)
	outcome, err := m.Learn(ctx, model.NewBatch(e))
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
	a.warnNested(m.Classes(), outcome.NewClasses, e.Samples)
	a.sayExpected(m)
	if asJSON {
		if err := a.sayLearned(m, a.destination(file), outcome, len(e.Outcome.Problems)); err != nil {
			return err
		}
	}
	return writeProblems(e.Outcome.Problems, a.destination(file)+".errors.csv")
}

// refresh rebuilds the super-classes of a model if the configuration asks for it. A
// model whose own configuration asks for it has already done so.
func (a *app) refresh(ctx context.Context, m *model.Model) error {
	if m.Method != "hppca" || !method.Get[hppca.Config](a.config.Classifier.Methods, "hppca").Refresh {
		return nil
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

func (a *app) save(m *model.Model, file string) error {
	return m.Save(a.destination(file))
}

// shownInWarning is the number of images or classes that a warning names.
const shownInWarning = 3

// A learned is what train --json and learn --json print: what this session added, and
// the model that it made.
type learned struct {
	Model      string            `json:"model"`
	Method     string            `json:"method"`
	Added      int               `json:"added"`
	Known      int               `json:"known"`  // learned before, or twice in this session
	Failed     int               `json:"failed"` // rows of MODEL.errors.csv
	NewClasses []string          `json:"new_classes"`
	MoreOf     []string          `json:"more_of"`
	Conflicts  []model.Conflict  `json:"conflicts"`
	Classes    []model.ClassInfo `json:"classes"`
	Samples    int               `json:"samples"`
	Advice     advice            `json:"advice"`
}

func learnedFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print what was learned, the classes and advice as JSON")
}

func (a *app) sayLearned(m *model.Model, file string, o model.Outcome, failed int) error {
	return a.sayJSON(learned{
		Model: file, Method: m.Method, Added: o.Added, Known: o.AlreadyKnown + o.Duplicates, Failed: failed,
		NewClasses: append([]string{}, o.NewClasses...), MoreOf: append([]string{}, o.MoreOf...), Conflicts: append([]model.Conflict{}, o.Conflicts...),
		Classes: m.ClassSizes(), Samples: m.SampleCount(), Advice: adviceOn(m),
	})
}

// sayOutcome reports what a model with the given classes has learned.
func (a *app) sayOutcome(what string, classes []string, o model.Outcome) {
	a.say("%s: %d samples, %d new classes", what, o.Added, len(o.NewClasses))
	if len(o.MoreOf) > 0 {
		a.say("more samples of %s", strings.Join(o.MoreOf, ", "))
	}
	if n := o.AlreadyKnown + o.Duplicates; n > 0 {
		a.say("%d samples were known already or occur twice; they count once", n)
	}
	if len(o.Conflicts) > 0 {
		var some []string
		for _, c := range o.Conflicts[:min(shownInWarning, len(o.Conflicts))] {
			some = append(some, c.Path+" ("+strings.Join(c.Labels, ", ")+")")
		}
		a.log.Warn("images were learned under several labels; keep each in one class folder only", "images", len(o.Conflicts), "first", strings.Join(some, "; "))
	}
	a.warnAboutClasses(classes, o.NewClasses)
}

// warnAboutClasses warns if there is only one class, or if a new class may be
// another one misspelt.
func (a *app) warnAboutClasses(classes, fresh []string) {
	if len(classes) == 1 && len(fresh) == 1 {
		a.log.Warn("the model has only one class: every image will get it, with probability 1; only the novelty tells images apart. Add a class with pipeline learn", "class", classes[0])
	}
	if alike := misspelt(classes, fresh); len(alike) > 0 {
		a.log.Warn("new classes have almost the name of another class. If that is a typo, rename the folder, remove the class with pipeline forget MODEL --class NAME, and learn the images again",
			"classes", len(alike), "first", strings.Join(alike[:min(shownInWarning, len(alike))], "; "))
	}
}

// misspelt describes the new classes whose name differs from that of an earlier
// class only by case, spaces or Unicode form or, from five letters on, by about one
// edit. Numbers are never typos of each other.
func misspelt(classes, fresh []string) []string {
	var alike []string
	first := make(map[string]string) // by a name without case, spaces and at most one letter
	for _, name := range classes {
		letters := []rune(norm.NFC.String(strings.ToLower(strings.Join(strings.Fields(name), ""))))
		forms := []string{string(letters)}
		for i := 0; i < len(letters) && len(letters) >= 5; i++ {
			if !unicode.IsDigit(letters[i]) {
				forms = append(forms, string(letters[:i])+string(letters[i+1:]))
			}
		}
		other := ""
		for _, form := range forms {
			if first[form] == "" {
				first[form] = name
			} else if other == "" && first[form] != name {
				other = first[form]
			}
		}
		switch {
		case other == "" || !slices.Contains(fresh, name):
		case norm.NFC.String(name) == norm.NFC.String(other): // they look the same
			alike = append(alike, fmt.Sprintf("%+q beside %+q, the same text in another Unicode form", name, other))
		default:
			alike = append(alike, fmt.Sprintf("%q beside %q", name, other))
		}
	}
	return alike
}

// warnNested warns if new classes nest inside others, as they do when folders of
// different levels are learned as classes of one model.
func (a *app) warnNested(classes, fresh []string, samples []dataset.Sample) {
	if a.config.List != "" || a.config.Features != "" {
		samples = nil // their labels need not be folders
	}
	if all := nested(classes, fresh, samples); len(all) > 0 {
		a.log.Warn("new classes nest inside others. If one thing now has two classes, remove the new ones with pipeline forget MODEL --class NAME, and learn them again with the --class-from of the others",
			"classes", len(all), "first", strings.Join(all[:min(shownInWarning, len(all))], "; "))
	}
}

// nested describes the new classes of which the name, as a path, begins or ends
// with another class or the other way round, or of which an image lies in a folder
// named after another class.
func nested(classes, fresh []string, samples []dataset.Sample) (all []string) {
	known, told := map[string]bool{}, map[string]bool{}
	for _, name := range classes {
		known[name], told[name] = true, true
	}
	for _, name := range fresh {
		told[name] = false
	}
	tell := func(name, what string) {
		if !told[name] {
			told[name], all = true, append(all, what)
		}
	}
	for _, name := range classes {
		for i, r := range name {
			if r != '/' {
				continue
			}
			for _, part := range []string{name[:i], name[i+1:]} {
				if known[part] {
					tell(name, fmt.Sprintf("%q beside %q", name, part))
					tell(part, fmt.Sprintf("%q beside %q", part, name))
				}
			}
		}
	}
	for _, s := range samples {
		name := dataset.EscapePath(s.Label)
		if told[name] || !known[name] {
			continue
		}
		for folder := range strings.SplitSeq(path.Dir(s.Path), "/") {
			if other := dataset.EscapePath(folder); other != name && known[other] {
				tell(name, fmt.Sprintf("%q has images in a folder %q, another class", name, folder))
			}
		}
	}
	return all
}
