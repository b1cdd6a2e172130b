package teach

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-90d10d51/pipeline/classifier"
)

func unique(ids []ID) []ID {
	seen := make(map[ID]bool, len(ids))
	return slices.DeleteFunc(slices.Clone(ids), func(id ID) bool {
		twice := seen[id]
		seen[id] = true
		return twice
	})
}

func checkName(name string) error {
	switch {
	case name == "":
		return refuse(Invalid, "the name of the class is empty")
	case len(name) > maxClassName:
		return refuse(Invalid, "the name of the class has %d bytes; the most is %d", len(name), maxClassName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return refuse(Invalid, "the name %q has characters that are not text", name)
	}
	return nil
}

// check returns a Refusal of a decision that cannot be made.
func (s *Session) check(l Line) error {
	switch l.Do {
	case Label, Unlabel:
		if len(l.Images) == 0 {
			return refuse(Invalid, "no photos are named")
		}
		if l.To != "" || l.Do == Unlabel && l.Class != "" {
			return refuse(Invalid, "%s takes images%s", l.Do, map[Do]string{Label: " and class"}[l.Do])
		}
		for _, id := range l.Images {
			_, here := s.index[id]
			switch {
			case !here && !s.state.knows(id):
				return refuse(Unknown, "there is no photo %s", id)
			case !here && l.Do == Label && s.row(id) == nil:
				return refuse(Conflict, "the model learned photo %s and does not keep its embedding: put the photo into the folder", id)
			}
		}
		if l.Do == Unlabel {
			if !slices.ContainsFunc(l.Images, func(id ID) bool { _, ok := s.state.marks[id]; return ok }) {
				return refuse(Conflict, "none of these photos has a label that was decided here")
			}
			return nil
		}
		if err := checkName(l.Class); err != nil {
			return err
		}
		return s.checkForgets(l)
	case Rename, Merge:
		return s.checkRename(l)
	}
	return refuse(Invalid, "do is %q: choose label, unlabel, rename or merge", l.Do)
}

// checkForgets refuses to correct what the base model cannot unlearn.
func (s *Session) checkForgets(l Line) error {
	if s.base.complete || s.base.forgets() {
		return nil
	}
	for _, id := range l.Images {
		for _, class := range s.state.learned[id] {
			if s.state.name(class) != l.Class {
				return refuse(Conflict, "the model learned photo %s as %s, and %s models that do not keep their embeddings cannot unlearn a single photo: correct the folder and train again", id, class, s.base.model.Method)
			}
		}
	}
	return nil
}

func (s *Session) checkRename(l Line) error {
	if err := errors.Join(checkName(l.Class), checkName(l.To)); err != nil {
		return refuse(Invalid, "%s needs class and to: %s", l.Do, err)
	}
	if len(l.Images) > 0 {
		return refuse(Invalid, "%s takes class and to", l.Do)
	}
	names := s.state.current()
	switch there := slices.Contains(names, l.To); {
	case !slices.Contains(names, l.Class):
		return refuse(Unknown, "there is no class %q", l.Class)
	case l.Class == l.To:
		return refuse(Conflict, "the class is called %q already", l.To)
	case l.Do == Rename && there:
		return refuse(Conflict, "there is a class %q already: merge the two, or choose another name", l.To)
	case l.Do == Merge && !there:
		return refuse(Unknown, "there is no class %q to merge with: rename it", l.To)
	}
	return s.checkRenames(l)
}

// checkRenames refuses to rename or merge what the base model cannot.
func (s *Session) checkRenames(l Line) error {
	trained := func(name string) bool {
		return slices.ContainsFunc(s.state.classes, func(class string) bool { return s.state.name(class) == name })
	}
	if s.base.complete || !trained(l.Class) {
		return nil
	}
	r, ok := s.base.model.Predictor.Head.(classifier.Renamer)
	switch {
	case !ok:
		return refuse(Conflict, "the model was trained on %s, and %s models that do not keep their embeddings cannot rename a class: rename its folder and train again", l.Class, s.base.model.Method)
	case l.Do == Merge && trained(l.To) && !r.Joins():
		return refuse(Conflict, "the model was trained on %s and %s, and %s models that do not keep their embeddings cannot merge two classes: merge their folders and train again", l.Class, l.To, s.base.model.Method)
	}
	return nil
}
