package advice

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/model"
)

// namedFirst is the number of images or classes that a warning names.
const namedFirst = 3

// A Warning says what about a model is probably not meant. Attrs are keys and values,
// as of slog.
type Warning struct {
	Text  string
	Attrs []any
}

// Learned returns the warnings about what a model with the given classes has learned:
// images under several labels, a single class, and names that may be misspelt.
func Learned(classes []string, o model.Outcome) (all []Warning) {
	if len(o.Conflicts) > 0 {
		var some []string
		for _, c := range o.Conflicts[:min(namedFirst, len(o.Conflicts))] {
			some = append(some, c.Path+" ("+strings.Join(c.Labels, ", ")+")")
		}
		all = append(all, Warning{"images were learned under several labels; keep each in one class folder only",
			[]any{"images", len(o.Conflicts), "first", strings.Join(some, "; ")}})
	}
	if len(classes) == 1 && len(o.NewClasses) == 1 {
		all = append(all, Warning{"the model has only one class: every image will get it, with probability 1; " +
			"only the novelty tells images apart. Add a class with pipeline learn", []any{"class", classes[0]}})
	}
	return append(all,
		about("new classes have almost the name of another class. If that is a typo, rename the folder, "+
			"remove the class with pipeline forget, and learn the images again",
			Misspelt(classes, o.NewClasses))...)
}

// Nesting warns if new classes nest inside others, as they do when folders of different
// levels are learned as classes of one model. The samples are those whose labels are
// folders.
func Nesting(classes, fresh []string, samples []dataset.Sample) []Warning {
	return about("new classes nest inside others. If one thing now has two classes, remove the new ones with "+
		"pipeline forget, and learn them again with the class_from of the others",
		Nested(classes, fresh, samples))
}

// about returns a warning about some classes, none if there are none.
func about(text string, classes []string) []Warning {
	if len(classes) == 0 {
		return nil
	}
	first := strings.Join(classes[:min(namedFirst, len(classes))], "; ")
	return []Warning{{text, []any{"classes", len(classes), "first", first}}}
}

// Misspelt describes the new classes whose name differs from that of an earlier
// class only by case, spaces or Unicode form or, from five letters on, by about one
// edit. Numbers are never typos of each other.
func Misspelt(classes, fresh []string) []string {
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

// Nested describes the new classes of which the name, as a path, begins or ends
// with another class or the other way round, or of which an image lies in a folder
// named after another class.
func Nested(classes, fresh []string, samples []dataset.Sample) (all []string) {
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
			other := dataset.EscapePath(folder)
			if other != name && known[other] {
				tell(name, fmt.Sprintf("%q has images in a folder %q, another class", name, folder))
			}
		}
	}
	return all
}
