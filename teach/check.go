package teach

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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

// check returns a Refusal of a decision that cannot be made, given which photos are or
// were in the folder.
func (s *state) check(l Line, here func(ID) bool) error {
	switch l.Do {
	case Label, Unlabel, Ignore, Skip, Several:
		return s.checkLabels(l, here)
	case Rename, Merge:
		return s.checkRename(l)
	}
	return refuse(Invalid, "do is %q: choose label, unlabel, ignore, skip, several, rename or merge", l.Do)
}

func (s *state) checkLabels(l Line, here func(ID) bool) error {
	if len(l.Images) == 0 {
		return refuse(Invalid, "no photos are named")
	}
	if l.To != "" || l.Do != Label && l.Class != "" {
		return refuse(Invalid, "%s takes images%s", l.Do,
			map[Do]string{Label: " and class", Several: " and labels"}[l.Do])
	}
	if err := l.checkSeveral(); err != nil {
		return err
	}
	if l.Kept != nil && (l.Do != Ignore || slices.Contains(l.Images, *l.Kept) || !here(*l.Kept)) {
		return refuse(Invalid, "kept is for ignore: a photo of the folder that is not among the images")
	}
	for _, id := range l.Images {
		if !here(id) && !s.knows(id) {
			return refuse(Unknown, "there is no photo %s", id)
		}
	}
	if l.Do == Unlabel {
		if !slices.ContainsFunc(l.Images, func(id ID) bool { _, ok := s.marks[id]; return ok }) {
			return refuse(Conflict, "none of these photos has a label that was decided here")
		}
		return nil
	}
	if l.Do == Label {
		if err := checkName(l.Class); err != nil {
			return err
		}
	}
	return s.checkForgets(l)
}

// Bounds of the names of one photo.
const (
	leastLabels = 2
	mostLabels  = 20
)

// checkSeveral refuses names that are not those of several things, and names of anything else.
func (l Line) checkSeveral() error {
	n := len(l.Classes)
	switch {
	case l.Do != Several && n > 0:
		return refuse(Invalid, "%s takes no labels", l.Do)
	case l.Do == Several && (n < leastLabels || n > mostLabels):
		return refuse(Invalid, "%s takes from %d to %d different labels, not %d", Several, leastLabels, mostLabels, n)
	}
	for _, name := range l.Classes {
		if err := checkName(name); err != nil {
			return err
		}
	}
	return nil
}

// checkForgets refuses to correct what the base model cannot unlearn.
func (s *state) checkForgets(l Line) error {
	if s.complete || s.forgets {
		return nil
	}
	for i, id := range l.Images {
		want := l.Class
		if l.severalClasses() {
			want = l.Classes[i]
		}
		for _, class := range s.learned[id] {
			if s.name(class) != want {
				return refuse(Conflict, "the model learned photo %s as %s, "+
					"and %s models that do not keep their embeddings cannot unlearn a single photo: "+
					"correct the folder and train again", id, class, s.method)
			}
		}
	}
	return nil
}

func (s *state) checkRename(l Line) error {
	if err := errors.Join(checkName(l.Class), checkName(l.To)); err != nil {
		return refuse(Invalid, "%s needs class and to: %s", l.Do, err)
	}
	if len(l.Images) > 0 || l.Kept != nil {
		return refuse(Invalid, "%s takes class and to", l.Do)
	}
	if err := l.checkSeveral(); err != nil {
		return err
	}
	names := s.current()
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
func (s *state) checkRenames(l Line) error {
	trained := func(name string) bool {
		return slices.ContainsFunc(s.classes, func(class string) bool { return s.name(class) == name })
	}
	switch {
	case s.complete || !trained(l.Class):
	case !s.renames:
		return refuse(Conflict, "the model was trained on %s, "+
			"and %s models that do not keep their embeddings cannot rename a class: "+
			"rename its folder and train again", l.Class, s.method)
	case l.Do == Merge && trained(l.To) && !s.joins:
		return refuse(Conflict, "the model was trained on %s and %s, "+
			"and %s models that do not keep their embeddings cannot merge two classes: "+
			"merge their folders and train again", l.Class, l.To, s.method)
	}
	return nil
}

// checkReplaces refuses to replace a file of the model that another program wrote. Present is
// its SHA-256, "" for no file.
func (s *state) checkReplaces(present, name string) error {
	if _, known := s.writtenAt(present); known || present == "" {
		return nil
	}
	return refuse(Changed, "another program has changed %s, which stays as it is: "+
		"to keep what was decided here, move it away and save again; "+
		"to keep what the changed model learned as well, start the server again",
		name)
}
