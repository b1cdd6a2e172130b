package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
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
		return r.learnTaught(ctx, q)
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
	if err := Replaceable(q.to()); err != nil {
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
	if err := Replaceable(q.to()); err != nil {
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
	done, err := r.do(ctx, q.Model, cmp.Or(start.Provenance.Dim, start.Dim()),
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
