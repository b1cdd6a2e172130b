package pipeline

import (
	"fmt"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/account"
	"github.com/seed-90d10d51/pipeline/model/advice"
)

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
