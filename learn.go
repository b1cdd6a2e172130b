package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/account"
	"github.com/seed-90d10d51/pipeline/model/advice"
	"github.com/seed-90d10d51/pipeline/model/classstats"
	"github.com/seed-90d10d51/pipeline/teach"
)

// A LearnRequest says what a model learns in one more session.
type LearnRequest struct {
	// Model is the file of the model, and Out that of the changed one; "" is the same file.
	Model, Out string
	// From is what to learn from; it may be empty if there are Texts. Texts is as in TrainRequest,
	// Stats a file of statistics in place of From.
	From  Source
	Texts string
	Stats string
	// Other is a model of the same network, whose decisions are added to those of Model.
	Other string
	// Prefer says which truth to keep where a photo was decided to be of another class.
	Prefer teach.Preference
	// Methods say if the model is to be brought up to date (hppca). Restart forgets what a stopped
	// run has trained.
	Methods method.Config
	Restart bool
	// OldShare is the share of photos expected to show classes of the base session; 0 leaves it as
	// the model has it.
	OldShare model.OldShare
}

// to is the file of the changed model.
func (q LearnRequest) to() string { return cmp.Or(q.Out, q.Model) }

// Learn teaches a model one more session and saves it. Photos that it has learned change nothing.
// If the model was taught, by serve or start, this is a line of its journal.
func (s *Studio) Learn(ctx context.Context, q LearnRequest) (*Learned, error) {
	r := s.begin(ctx)
	switch {
	case q.Other != "":
		return r.merge(ctx, q)
	case q.Stats != "":
		return r.learnStats(ctx, q)
	case taught(q.to()) && q.to() == q.Model:
		return r.learnTaught(ctx, q, nil)
	case q.Prefer != "":
		return nil, notTaught(q.to())
	}
	return r.learn(ctx, q)
}

func (r *run) learn(ctx context.Context, q LearnRequest) (*Learned, error) {
	m, err := r.loadShared(q.Model, q.OldShare)
	if err != nil {
		return nil, err
	}
	if err := replaceable(q.to()); err != nil {
		return nil, err
	}
	if l, err := r.learnNames(ctx, m, q); l != nil || err != nil {
		return l, err
	}
	in := r.inputs(q.From, q.Out)
	e, b, err := in.labelled(ctx, m)
	if err != nil {
		return nil, err
	}
	trainings := r.checkpoint(q.to(), !q.Restart)
	classifier.UseCheckpoint(m.Predictor.Head, trainings)
	outcome, err := m.Learn(ctx, b)
	if err == nil {
		err = refresh(ctx, m, q.Methods)
	}
	if err != nil {
		return nil, err
	}
	if outcome.Changed() {
		m.ToolVersion = r.version
	}
	if err := save(m, q.to()); err != nil {
		return nil, err
	}
	if err := trainings.Close(); err != nil {
		return nil, err
	}
	l := &Learned{Model: m, File: q.to(), Outcome: outcome, Failed: len(e.Outcome.Problems)}
	l.count()
	l.outcome(r, "learned")
	r.warn(advice.Nesting(m.Classes(), outcome.NewClasses, in.folders(e.Samples)))
	l.lines = append(l.lines, account.Trained(m)...)
	return l, r.problems(e.Outcome.Problems, q.to()+".errors.csv")
}

// refresh brings a model up to date if the configuration of its method asks for it. A
// model whose own configuration asks for it has already done so.
func refresh(ctx context.Context, m *model.Model, methods method.Config) error {
	row, err := method.Find(m.Method)
	if err != nil || !row.Refreshes(methods.Settings(row)) {
		return err
	}
	return m.Refresh(ctx)
}

// learnStats adds a file of statistics to a model.
func (r *run) learnStats(ctx context.Context, q LearnRequest) (*Learned, error) {
	m, err := r.loadShared(q.Model, q.OldShare)
	if err != nil {
		return nil, err
	}
	if err := replaceable(q.to()); err != nil {
		return nil, err
	}
	s, err := classstats.Load(q.Stats)
	if err != nil {
		return nil, err
	}
	outcome, err := m.LearnStats(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", q.Stats, err)
	}
	r.differ(s.Source(), m.Provenance, "in the model")
	if outcome.Changed() {
		m.ToolVersion = r.version
	}
	if err := save(m, q.to()); err != nil {
		return nil, err
	}
	l := &Learned{Model: m, File: q.to(), Outcome: outcome}
	l.count()
	l.outcome(r, "learned")
	return l, nil
}

// merge adds what was decided with another model to the journal of a model, and saves
// the model.
func (r *run) merge(ctx context.Context, q LearnRequest) (*Learned, error) {
	if err := reachable(q.Model); err != nil {
		return nil, err
	}
	start, err := model.Load(teach.StartFile(q.Model))
	if err != nil {
		return nil, err
	}
	other, err := filepath.Abs(q.Other)
	if err != nil {
		return nil, err
	}
	done, err := r.do(ctx, q.Model, start, cmp.Or(start.Provenance.Dim, start.Dim()),
		teach.Work{Merge: other, Prefer: q.Prefer})
	if err != nil {
		return nil, withChoice(err)
	}
	l := &Learned{File: q.Model, Outcome: done.Outcome, Unsaved: done.Unsaved}
	l.lines.add("%s", mergedLine(done.Outcome))
	if done.Unsaved != "" {
		l.lines.add("%s was not written: %s", q.Model, done.Unsaved)
	}
	return l, nil
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

// learnTaught adds a folder or list to the journal of a model, and saves the model. start is the model that the
// journal starts from, nil to read it.
func (r *run) learnTaught(ctx context.Context, q LearnRequest, start *model.Model) (_ *Learned, err error) {
	if err := reachable(q.Model); err != nil {
		return nil, err
	}
	if q.Texts != "" {
		return nil, misuse("%s was taught with serve, and only photos can be added to its journal: "+
			"to add names with {texts}, give another {out}", q.Model)
	}
	if start == nil {
		if start, err = model.Load(teach.StartFile(q.Model)); err != nil {
			return nil, err
		}
	}
	in := r.inputs(q.From, q.Out)
	var aside []teach.Aside
	e, b, err := in.labelledOr(ctx, start, func(item embedding.Item) { aside = append(aside, shownAside(item)) })
	if err != nil {
		return nil, err
	}
	done, err := r.do(ctx, q.Model, start, e.X.Cols, teach.Work{Import: &b, Aside: aside, Prefer: q.Prefer})
	if err != nil {
		return nil, withChoice(err)
	}
	l := &Learned{File: q.Model, Outcome: done.Outcome, Unsaved: done.Unsaved, Failed: len(e.Outcome.Problems)}
	if done.Unsaved != "" { // as with fewer than two classes
		l.lines.add("%s was not written: %s", q.Model, done.Unsaved)
		return l, r.problems(e.Outcome.Problems, q.Model+".errors.csv")
	}
	if l.Model, err = model.Load(q.Model); err != nil {
		return nil, err
	}
	if l.Account, err = teach.Learned(q.Model, l.Model, start); err != nil {
		return nil, err
	}
	l.outcome(r, "learned, in the journal too:")
	r.warn(advice.Nesting(l.Model.Classes(), l.Outcome.NewClasses, in.folders(e.Samples)))
	l.lines = append(l.lines, account.Trained(l.Model)...)
	return l, r.problems(e.Outcome.Problems, q.Model+".errors.csv")
}

// shownAside is a photo of no class or of several.
func shownAside(item embedding.Item) teach.Aside {
	shown := teach.Aside{Content: item.Hash, Path: item.Sample.Path, Vector: slices.Clone(item.Vector)}
	for _, class := range dataset.SplitLabels(item.Sample.Several) {
		shown.Labels = append(shown.Labels, dataset.EscapePath(class))
	}
	return shown
}

// Preference reads what to prefer where a photo was decided to be of another class: decisions or
// list, "" to ask.
func Preference(prefer string) (teach.Preference, error) {
	choice := teach.Preference(prefer)
	if choice != "" && choice != teach.Decisions && choice != teach.Lists {
		return "", misuse("{prefer} is %q: choose decisions or list", prefer)
	}
	return choice, nil
}

// withChoice says how to choose where two truths conflict.
func withChoice(err error) error {
	if conflicts := (*teach.ConflictsError)(nil); errors.As(err, &conflicts) {
		decided, listed := conflicts.Choice()
		return phrase.New("%w. Choose for all of them: {prefer} decisions keeps the labels of %s, {prefer} list takes "+
			"those of %s", err, decided, listed)
	}
	return err
}

// shownClasses is the number of new classes that are named.
const shownClasses = 3

// Learned is what Train and Learn return: what this session added, and the model that it made.
type Learned struct {
	// Model is nil if it could not be made: Unsaved says why.
	Model   *model.Model
	File    string
	Outcome model.Outcome
	Unsaved string
	Failed  int // rows of FILE.errors.csv
	// Account is of what the model has learned, and of what could not be read.
	Account account.Account

	lines lines
}

// Lines say what was learned, for a person.
func (l *Learned) Lines() []string { return l.lines }

// LearnedJSON is what programs are told of a session.
type LearnedJSON struct {
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
	Advice     advice.Advice     `json:"advice"`
	Account    account.Account   `json:"account"`
}

// JSON returns what programs are told, nil if there is no model.
func (l *Learned) JSON() any {
	if l.Model == nil {
		return nil
	}
	m, o := l.Model, l.Outcome
	return LearnedJSON{
		Model: l.File, Method: m.Method, Added: o.Added, Known: o.AlreadyKnown + o.Duplicates, Failed: l.Failed,
		NewClasses: append([]string{}, o.NewClasses...), MoreOf: append([]string{}, o.MoreOf...),
		Conflicts: append([]model.Conflict{}, o.Conflicts...),
		Classes:   m.ClassSizes(), Samples: m.SampleCount(), Advice: advice.On(m),
		Account: l.Account,
	}
}

// count makes the account of what the model has learned.
func (l *Learned) count() {
	t := account.Learned(l.Model)
	t.Rest(l.Failed, l.Outcome.AlreadyKnown+l.Outcome.Duplicates, 0)
	l.Account = t.Of(l.Model)
}

// outcome adds what a model has learned, and warns of what looks wrong.
func (l *Learned) outcome(r *run, what string) {
	classes, o := l.Model.Classes(), l.Outcome
	l.lines.add("%s %s", what, added(classes, o))
	if len(o.MoreOf) > 0 {
		l.lines.add("more samples of %s", strings.Join(o.MoreOf, ", "))
	}
	if o.SetAside > 0 {
		l.lines.add("%s set aside, as of no class or of several", plural(o.SetAside, "photo", "photos"))
	}
	if n := o.AlreadyKnown + o.Duplicates; n > 0 {
		l.lines.add("%s known already or given twice: not counted again", plural(n, "sample", "samples"))
	}
	r.warn(advice.Learned(classes, o))
}

// warn logs warnings.
func (r *run) warn(all []advice.Warning) {
	for _, w := range all {
		r.log.Warn(w.Text, w.Attrs...)
	}
}

// added says how much a model with the given classes has learned, and of what.
func added(classes []string, o model.Outcome) string {
	text, n := plural(o.Added, "sample", "samples"), len(o.NewClasses)
	switch {
	case n == len(classes):
		text += " of " + plural(n, "class", "classes")
	case n > 0:
		text += ", " + plural(n, "new class", "new classes")
		if n <= shownClasses {
			text += ": " + strings.Join(o.NewClasses, ", ")
		}
	}
	return text
}

// folders returns the samples whose labels are their folders, none if those need not be.
func (in inputs) folders(samples []dataset.Sample) []dataset.Sample {
	if in.List != "" || in.Features != "" {
		return nil
	}
	return samples
}

// priorLines describe the prior of a model, if it has one.
func priorLines(m *model.Model) []string {
	if m.Prior == nil {
		return nil
	}
	weight := ""
	if head, ok := m.Predictor.Head.(gauss.PriorUser); ok {
		weight = fmt.Sprintf("; for the spread within classes it counts as %.4g images", head.PriorWeight())
		if head.PriorWeight() == 0 {
			weight = "; not used: images that are left out are more probable without it"
		}
	}
	return []string{fmt.Sprintf("prior      of %s, %s in %s%s",
		plural(m.Prior.Samples(), "other image", "other images"),
		plural(m.Prior.Classes, "class", "classes"), plural(m.Prior.Sets, "folder", "folders"), weight)}
}
