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

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/cache"
	"github.com/seed-90d10d51/pipeline/internal/linalg/native"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/advice"
	"github.com/seed-90d10d51/pipeline/serve"
	"github.com/seed-90d10d51/pipeline/teach"
)

// preferFlag adds --prefer.
func preferFlag(cmd *cobra.Command, prefer *string) {
	cmd.Flags().StringVar(prefer, "prefer", "", "`truth` to keep where a photo was decided to be of another class: "+
		"decisions or list")
}

// taught reports whether a MODEL file follows from a journal.
func taught(file string) bool { return teach.StartFile(file) != file }

// onlyTaught returns a usage error if --prefer is given where nothing was decided.
func onlyTaught(prefer, file string) error {
	if prefer != "" {
		return usagef("--prefer is for models that were taught with serve, and %s was not: leave it out", file)
	}
	return nil
}

// openSession opens the session of a MODEL that was taught, for embeddings of d values.
func (a *app) openSession(file string, d int) (*teach.Session, error) {
	cache, err := a.options().CacheDir()
	if err != nil {
		return nil, err
	}
	// Not a.products, which ends with the context: the model is written after that.
	products, err := native.Choose(a.config.Linalg, a.options().Runtime)
	if err != nil {
		return nil, err
	}
	return teach.Open(teach.Options{
		Model: file, Dim: d, Temp: filepath.Join(cache, "teach"), Backend: products, ToolVersion: version,
		Elsewhere: a.cached(file),
	})
}

// cached returns a function that finds embeddings of photos that a model was taught in the cache.
func (a *app) cached(file string) func([]teach.ID) map[teach.ID][]float32 {
	return func(ids []teach.ID) map[teach.ID][]float32 {
		found, err := a.cachedRows(file, ids)
		if err != nil {
			a.log.Warn("the cache could not be asked for photos that are not in the folder", "reason", err)
		}
		return found
	}
}

func (a *app) cachedRows(file string, ids []teach.ID) (found map[teach.ID][]float32, err error) {
	m, err := model.Load(teach.StartFile(file))
	if err != nil {
		return nil, err
	}
	stored, err := a.options().Stored(m.Provenance)
	if err != nil {
		return nil, err
	}
	defer closeInto(stored, &err)
	found = map[teach.ID][]float32{}
	for _, id := range ids {
		if x, ok := stored.Get(cache.Hash(id)); ok {
			found[id] = x
		}
	}
	return found, nil
}

// reachable returns an error unless a model that was taught can be changed, by this command or
// by a server that has it open, so that a command fails before its work.
func reachable(file string) error {
	err := writable(file)
	if !errors.Is(err, teach.ErrInUse) {
		return err
	}
	if control, controlErr := teach.Control(file); controlErr != nil || control == nil {
		return err
	}
	return nil
}

// do does work on a model that was taught, whose embeddings have d values, or hands it to the
// server that has the model open.
func (a *app) do(ctx context.Context, file string, d int, work serve.Work) (done serve.Done, err error) {
	session, err := a.openSession(file, d)
	if errors.Is(err, teach.ErrInUse) {
		if done, err = serve.Hand(ctx, file, work); err == nil {
			a.say("handed to the server that has %s open, which shows it on its page", file)
		}
		return done, err
	}
	if err != nil {
		return done, err
	}
	defer closeInto(session, &err)
	warnOpened(a.log, session, file)
	if done, err = work.Do(ctx, session); err != nil || !work.Learns() {
		return done, err
	}
	done.Unsaved, err = a.leave(context.WithoutCancel(ctx), session, file)
	return done, err
}

// learnTaught adds a folder or list to the journal of a model, and saves the model.
func (a *app) learnTaught(ctx context.Context, file, prefer string) error {
	choice, err := preference(prefer)
	if err != nil {
		return err
	}
	if err := reachable(file); err != nil {
		return err
	}
	if a.config.Texts != "" {
		return usagef("%s was taught with serve, and only photos can be added to its journal: "+
			"to add names with --texts, give another --out", file)
	}
	start, err := model.Load(teach.StartFile(file))
	if err != nil {
		return err
	}
	in := a.inputs()
	var aside []teach.Aside
	e, b, err := in.labelledOr(ctx, start, func(item embed.Item) {
		shown := teach.Aside{Content: item.Hash, Path: item.Sample.Path, Vector: slices.Clone(item.Vector)}
		for _, class := range dataset.SplitLabels(item.Sample.Several) {
			shown.Labels = append(shown.Labels, dataset.EscapePath(class))
		}
		aside = append(aside, shown)
	})
	if err != nil {
		return err
	}
	done, err := a.do(ctx, file, e.X.Cols, serve.Work{Import: &b, Aside: aside, Prefer: choice})
	if err != nil {
		return withChoice(err)
	}
	outcome := done.Outcome
	if done.Unsaved != "" { // as with fewer than two classes
		a.say("%s was not written: %s", file, done.Unsaved)
		return writeProblems(e.Outcome.Problems, file+".errors.csv")
	}
	m, err := model.Load(file)
	if err != nil {
		return err
	}
	a.sayOutcome("learned, in the journal too:", m.Classes(), outcome)
	a.warn(advice.Nesting(m.Classes(), outcome.NewClasses, in.folders(e.Samples)))
	a.sayAll(advice.Expected(m))
	if a.json != "" {
		if err := a.sayLearned(m, file, outcome, len(e.Outcome.Problems)); err != nil {
			return err
		}
	}
	return writeProblems(e.Outcome.Problems, file+".errors.csv")
}

// preference reads --prefer.
func preference(prefer string) (teach.Preference, error) {
	choice := teach.Preference(prefer)
	if choice != "" && choice != teach.Decisions && choice != teach.Lists {
		return "", usagef("--prefer is %q: choose decisions or list", prefer)
	}
	return choice, nil
}

// withChoice says how to choose where two truths conflict.
func withChoice(err error) error {
	if conflicts := (*teach.ConflictsError)(nil); errors.As(err, &conflicts) {
		return fmt.Errorf("%w. %s", err, conflicts.Choice())
	}
	return err
}

// learnFrom adds what was decided with another model to the journal of a model, and saves
// the model.
func (a *app) learnFrom(ctx context.Context, file, from, stats, prefer string) error {
	choice, err := preference(prefer)
	if err != nil {
		return err
	}
	if !a.namesOnly() || a.config.Texts != "" || stats != "" || a.config.Out != "" {
		return usagef("--from adds the decisions of another model to %s, and nothing else: give it alone", file)
	}
	if err := reachable(file); err != nil {
		return err
	}
	start, err := model.Load(teach.StartFile(file))
	if err != nil {
		return err
	}
	other, err := filepath.Abs(from)
	if err != nil {
		return err
	}
	done, err := a.do(ctx, file, cmp.Or(start.Provenance.Dim, start.Dim()), serve.Work{Merge: other, Prefer: choice})
	if err != nil {
		return withChoice(err)
	}
	a.say("%s", mergedLine(done.Outcome))
	if done.Unsaved != "" {
		a.say("%s was not written: %s", file, done.Unsaved)
	}
	return nil
}

// mergedLine says what was merged.
func mergedLine(o model.Outcome) string {
	line := fmt.Sprintf("merged %s that had no label here, %s the same label",
		plural(o.Added, "photo", "photos"), plural(o.AlreadyKnown, "has", "have"))
	if o.SetAside > 0 {
		line += fmt.Sprintf("; set %d aside", o.SetAside)
	}
	if len(o.NewClasses) > 0 {
		line += "; new classes: " + strings.Join(o.NewClasses, ", ")
	}
	if len(o.LeftOut) > 0 {
		line += "; not merged: " + strings.Join(o.LeftOut, ", ")
	}
	return line
}

// trainTaught adds a folder or list to a model that was taught: what people decided stays,
// and so does the method.
func (a *app) trainTaught(ctx context.Context, file, prefer string) error {
	m, err := model.Load(teach.StartFile(file))
	if err != nil {
		return err
	}
	if name := a.config.Classifier.Name; name != method.Auto && name != m.Method || a.config.Classifier.DKL.Enabled {
		return usagef("%s was taught with serve, and goes on with the method %s: to train another one, give another "+
			"--out", file, m.Method)
	}
	a.say("%s was taught with serve: its decisions stay, and these photos are added", file)
	return a.learnTaught(ctx, file, prefer)
}

// replaceable returns an error unless another model can take the place of a MODEL file, which
// must not follow from a journal.
func replaceable(file string) error {
	if err := writable(file); err != nil {
		return err
	}
	if taught(file) {
		return usagef("%s was taught with serve, and only photos can be added to its journal: give another --out", file)
	}
	return nil
}
