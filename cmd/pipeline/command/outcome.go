package command

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/text/unicode/norm"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/model"
)

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
	a.say("%s %s", what, added(classes, o))
	if len(o.MoreOf) > 0 {
		a.say("more samples of %s", strings.Join(o.MoreOf, ", "))
	}
	if n := o.AlreadyKnown + o.Duplicates; n > 0 {
		a.say("%s known already or given twice: not counted again", plural(n, "sample", "samples"))
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

// added says how much a model with the given classes has learned, and of what.
func added(classes []string, o model.Outcome) string {
	text, n := plural(o.Added, "sample", "samples"), len(o.NewClasses)
	switch {
	case n == len(classes):
		text += " of " + plural(n, "class", "classes")
	case n > 0:
		text += ", " + plural(n, "new class", "new classes")
		if n <= shownInWarning {
			text += ": " + strings.Join(o.NewClasses, ", ")
		}
	}
	return text
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
