package teach

import (
	"cmp"
	"maps"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// A mark is the label of a photo by a decision; seq and at are the place of the decision.
type mark struct {
	of      *class // nil for none
	by      label.By
	seq, at int
	several []*class // of Mixed
	again   bool     // of a Person, about a photo that had a label already
}

// class returns the name of the class of a photo, "" for none.
func (m mark) class() string {
	if m.of == nil {
		return ""
	}
	return m.of.now().name
}

// labels returns the names of what a photo of Mixed shows.
func (m mark) labels() []string { return namesOf(m.several) }

// An origin is what the base model had learned, and what it can do with that. Nobody
// changes it.
type origin struct {
	method  string
	classes []string
	samples []model.SampleID
	learned map[ID][]string // the classes in which it learned a photo
	known   map[string]bool // its classes
	// complete reports that the base model keeps the embeddings of all samples. If it does
	// not, the head has to forget single samples, rename classes and join two.
	complete, forgets, renames, joins bool
}

func originOf(m *model.Model) *origin {
	o := newOrigin(slices.Clone(m.Classes()), samplesOf(m))
	o.method = m.Method
	_, o.forgets = m.Predictor.Head.(classifier.SampleForgetter)
	if r, ok := m.Predictor.Head.(classifier.Renamer); ok {
		o.renames, o.joins = true, r.Joins()
	}
	return o
}

func newOrigin(classes []string, samples []model.SampleID) *origin {
	o := &origin{classes: classes, samples: samples, learned: map[ID][]string{}, known: map[string]bool{}}
	for _, class := range classes {
		o.known[class] = true
	}
	for _, sample := range samples {
		id := ID(sample.Content)
		o.learned[id] = append(o.learned[id], sample.Class)
	}
	return o
}

// A state is what the lines of a journal amount to, given what the base model had
// learned: a function of these two values.
type state struct {
	*origin
	lines []Line
	marks map[ID]mark
	names *naming
	// done are the decisions that Undo can take back, undone those that Redo can
	// restore, each the last one last.
	done, undone *stack
	// inForce are the decisions that marks and names follow from: those of done, but
	// instead of a Back and all before it, those in force after its line.
	inForce []Line
	// after has done after each line.
	after []*stack
}

// fold returns the state after some lines, which it keeps.
func fold(lines []Line, base *origin) *state {
	s := &state{origin: base, lines: slices.Clip(lines), after: make([]*stack, 0, len(lines))}
	for _, l := range lines {
		s.arrange(l)
	}
	s.rebuild()
	return s
}

// take adds lines. What follows from them is made once, however many of them undo another.
func (s *state) take(lines ...Line) {
	s.lines = append(s.lines, lines...)
	undoes := false
	for _, l := range lines {
		s.arrange(l)
		undoes = undoes || l.Do == Back || l.Do == Undo || l.Do == Redo
	}
	if undoes {
		s.rebuild()
		return
	}
	for _, l := range lines {
		if l.decides() {
			s.inForce = append(s.inForce, l)
			s.apply(l)
		}
	}
}

// arrange keeps done, undone and after.
func (s *state) arrange(l Line) {
	switch {
	case l.decides():
		s.done, s.undone = s.done.push(l), nil
	case l.Do == Undo:
		s.done, s.undone = move(s.done, s.undone)
	case l.Do == Redo:
		s.undone, s.done = move(s.undone, s.done)
	}
	s.after = append(s.after, s.done)
}

// move moves the last decision of one stack to another.
func move(from, to *stack) (less, more *stack) {
	if from == nil {
		return from, to
	}
	return from.before, to.push(from.last)
}

// rebuild makes everything that follows from done.
func (s *state) rebuild() {
	s.marks, s.names = map[ID]mark{}, newNaming(s.classes)
	s.inForce = s.force(s.done)
	for _, l := range s.inForce {
		s.apply(l)
	}
}

func (s *state) apply(l Line) {
	switch l.Do {
	case Label, Learn:
		for i, id := range l.Images {
			before, by := s.label(id, "")
			again := before != "" && !by.Aside()
			s.marks[id] = mark{of: s.names.class(l.Class), by: label.Person, seq: l.Seq, at: i, again: again}
		}
	case Ignore, Skip:
		by := map[Do]label.By{Ignore: label.Ignored, Skip: label.Skipped}[l.Do]
		for i, id := range l.Images {
			s.marks[id] = mark{by: by, seq: l.Seq, at: i}
		}
	case Several:
		several := s.names.all(l.Classes)
		for i, id := range l.Images {
			s.marks[id] = mark{by: label.Mixed, seq: l.Seq, at: i, several: several}
		}
	case Unlabel:
		for _, id := range l.Images {
			delete(s.marks, id)
		}
	case Accept:
		for i, id := range l.Images {
			s.marks[id] = mark{of: s.names.class(l.Classes[i]), by: label.Bulk, seq: l.Seq, at: i}
		}
	case Import:
		for i, id := range l.Images {
			m := mark{by: l.importedBy(i), seq: l.Seq, at: i, several: s.names.all(l.Shows[id])}
			if l.Classes[i] != "" {
				m.of = s.names.class(l.Classes[i])
			}
			s.marks[id] = m
		}
	case Rename, Merge:
		s.names.rename(l)
	}
}

// name returns the present name of a class of the base model.
func (s *state) name(class string) string {
	if c, ok := s.names.base[class]; ok {
		return c.now().name
	}
	return class
}

// current returns the classes that any photo has or the base model had, sorted.
func (s *state) current() []string {
	all := map[string]bool{}
	for _, c := range s.classes {
		all[s.name(c)] = true
	}
	for _, m := range s.marks {
		if !m.by.Aside() {
			all[m.class()] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// count returns how many photos somebody labelled.
func (s *state) count(by label.By) (n int) {
	for _, m := range s.marks {
		if m.by == by {
			n++
		}
	}
	return n
}

// knows reports whether a photo has a decision or was learned.
func (s *state) knows(id ID) bool {
	_, decided := s.marks[id]
	return decided || len(s.learned[id]) > 0
}

// label returns the label of a photo, in a folder that names a class, and who gave it;
// "" for none.
func (s *state) label(id ID, folder string) (string, label.By) {
	if m, ok := s.marks[id]; ok {
		return m.class(), m.by
	}
	if classes := s.learned[id]; len(classes) > 0 {
		return s.name(classes[0]), label.Folder
	}
	if folder != "" && s.known[folder] {
		return s.name(folder), label.Folder
	}
	return "", ""
}

// examples returns what a model of this state has learned.
func (s *state) examples() []model.SampleID {
	out := make([]model.SampleID, 0, len(s.samples)+len(s.marks))
	confirmed, there := map[ID]bool{}, make(map[model.SampleID]bool, len(s.samples))
	for _, sample := range s.samples {
		sample.Class = s.name(sample.Class)
		m, ok := s.marks[ID(sample.Content)]
		corrected := ok && m.by != label.Bulk && m.class() != sample.Class
		if corrected || there[sample] {
			continue
		}
		confirmed[ID(sample.Content)], there[sample] = ok, true
		out = append(out, sample)
	}
	taught := slices.DeleteFunc(slices.Collect(maps.Keys(s.marks)), func(id ID) bool {
		return confirmed[id] || !s.marks[id].by.Teaches()
	})
	slices.SortFunc(taught, func(a, b ID) int {
		return cmp.Or(cmp.Compare(s.marks[a].seq, s.marks[b].seq), cmp.Compare(s.marks[a].at, s.marks[b].at))
	})
	for _, id := range taught {
		out = append(out, model.SampleID{Content: model.Hash(id), Class: s.marks[id].class()})
	}
	return out
}

// writtenAt returns the line up to which a file of the model has learned all
// decisions; ok is false for a file that no session of this journal wrote or began
// with.
func (s *state) writtenAt(hash string) (seq int, ok bool) {
	for _, l := range slices.Backward(s.lines) {
		if l.Do == Saved && (l.Model == hash || l.To == hash) {
			return l.Of, true
		}
	}
	return 1, s.lines[0].Model == hash || s.lines[0].Was == hash
}

// lastWritten returns the line of the last save that wrote a file, 1 for none.
func (s *state) lastWritten() int {
	for _, l := range slices.Backward(s.lines) {
		if l.Do == Saved && l.Model != "" {
			return l.Of
		}
	}
	return 1
}

// brokenOff returns the last save if the journal has no end of it, as one of version 0.1
// may; nil if there is none.
func (s *state) brokenOff() *Line {
	for _, l := range slices.Backward(s.lines) {
		switch l.Do {
		case Saved:
			return nil
		case Save:
			return &l
		}
	}
	return nil
}

// changesSince counts the changes after a line.
func (s *state) changesSince(seq int) (n int) {
	for _, l := range s.lines[seq:] {
		if l.changes() {
			n++
		}
	}
	return n
}

// lastFit returns the last line that the model was fitted to, 0 for none.
func (s *state) lastFit() int {
	for _, l := range slices.Backward(s.lines) {
		if l.Do == Refit || l.Do == Save {
			return l.Seq
		}
	}
	return 0
}

// untouched reports whether nothing was decided or saved.
func (s *state) untouched() bool {
	return !slices.ContainsFunc(s.lines, func(l Line) bool { return l.Do != Start && l.Do != Refit })
}
