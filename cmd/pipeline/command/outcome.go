package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/advice"
)

// shownClasses is the number of new classes that are named.
const shownClasses = 3

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
	Advice     advice.Advice     `json:"advice"`
}

func learnedFlag(cmd *cobra.Command) {
	jsonFlag(cmd.Flags(), "write what was learned, the classes and advice as JSON")
}

func (a *app) sayLearned(m *model.Model, file string, o model.Outcome, failed int) error {
	return a.writeJSON(learned{
		Model: file, Method: m.Method, Added: o.Added, Known: o.AlreadyKnown + o.Duplicates, Failed: failed,
		NewClasses: append([]string{}, o.NewClasses...), MoreOf: append([]string{}, o.MoreOf...),
		Conflicts: append([]model.Conflict{}, o.Conflicts...),
		Classes:   m.ClassSizes(), Samples: m.SampleCount(), Advice: advice.On(m),
	})
}

// sayOutcome reports what a model with the given classes has learned.
func (a *app) sayOutcome(what string, classes []string, o model.Outcome) {
	a.say("%s %s", what, added(classes, o))
	if len(o.MoreOf) > 0 {
		a.say("more samples of %s", strings.Join(o.MoreOf, ", "))
	}
	if o.SetAside > 0 {
		a.say("%s set aside, as of no class or of several", plural(o.SetAside, "photo", "photos"))
	}
	if n := o.AlreadyKnown + o.Duplicates; n > 0 {
		a.say("%s known already or given twice: not counted again", plural(n, "sample", "samples"))
	}
	a.warn(advice.Learned(classes, o))
}

// warn logs warnings.
func (a *app) warn(all []advice.Warning) {
	for _, w := range all {
		a.log.Warn(w.Text, w.Attrs...)
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
	if in.list != "" || in.features != "" {
		return nil
	}
	return samples
}
