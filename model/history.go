package model

import (
	"fmt"
	"iter"
	"slices"
)

// A Session is what one successful Learn added, less what was forgotten since.
type Session struct {
	// Index counts from 0, the base session.
	Index int
	// NewClasses are the classes that this session added, in column order.
	NewClasses []string
	// Samples are the learned samples, in input order.
	Samples []SampleID
	// FromStatistics reports that it was learned from class statistics, Refreshed
	// that Refresh was called after it.
	FromStatistics, Refreshed bool
}

// Count returns the number of samples.
func (s Session) Count() int { return len(s.Samples) }

// A History is the sessions of a model, in order. Those that have lost all of their
// samples keep their place.
type History []Session

// samples yields all learned samples, each with the position of its session.
func (h History) samples() iter.Seq2[int, SampleID] {
	return func(yield func(int, SampleID) bool) {
		for at, s := range h {
			for _, id := range s.Samples {
				if !yield(at, id) {
					return
				}
			}
		}
	}
}

// count returns the number of samples.
func (h History) count() int {
	n := 0
	for _, s := range h {
		n += s.Count()
	}
	return n
}

// with adds a session, which gets the next index.
func (h History) with(s Session) History {
	if n := len(h); n > 0 {
		s.Index = h[n-1].Index + 1
	}
	return append(h, s)
}

// in returns a function that reports whether a sample is among those gone.
func in(gone map[SampleID][]float32) func(SampleID) bool {
	return func(id SampleID) bool { _, ok := gone[id]; return ok }
}

// drop removes samples and the classes that are no longer among those left.
func (h History) drop(gone map[SampleID][]float32, left []string) {
	classes := set(left)
	for i := range h {
		s := &h[i]
		s.Samples = slices.DeleteFunc(s.Samples, in(gone))
		s.NewClasses = slices.DeleteFunc(s.NewClasses, func(c string) bool { return !classes[c] })
	}
}

// rename gives a class another name; joins says that it becomes one with a class that
// has that name: a content that was learned as both is then recorded once.
func (h History) rename(class, to string, joins bool) {
	there := map[Hash]bool{}
	for _, id := range h.samples() {
		there[id.Content] = there[id.Content] || joins && id.Class == to
	}
	for i := range h {
		s := &h[i]
		if joins {
			s.NewClasses = slices.DeleteFunc(slices.Clone(s.NewClasses),
				func(name string) bool { return name == class })
		}
		s.NewClasses = renamed(s.NewClasses, class, to)
		s.Samples = slices.DeleteFunc(slices.Clone(s.Samples), func(id SampleID) bool {
			return id.Class == class && there[id.Content]
		})
		for k := range s.Samples {
			if s.Samples[k].Class == class {
				s.Samples[k].Class = to
			}
		}
	}
}

// without returns the sessions without some samples; those with nothing left
// vanish.
func (h History) without(gone map[SampleID][]float32) []sessionRows {
	var rest []sessionRows
	for _, s := range h {
		s.Samples = slices.DeleteFunc(slices.Clone(s.Samples), in(gone))
		switch n := len(rest); {
		case len(s.Samples) > 0:
			rest = append(rest, sessionRows{Session: s})
		case s.Refreshed && n > 0:
			rest[n-1].Refreshed = true
		}
	}
	return rest
}

// index returns what each content was learned as.
func (h History) index() index {
	ix := newIndex(h.count())
	for _, id := range h.samples() {
		ix.add(id)
	}
	return ix
}

// An index maps a content to the classes it was learned as.
type index struct {
	first map[Hash]string
	// more holds the other classes of the few contents that have several.
	more map[Hash][]string
}

func newIndex(size int) index { return index{make(map[Hash]string, size), map[Hash][]string{}} }

func (ix index) add(id SampleID) {
	if _, ok := ix.first[id.Content]; ok {
		ix.more[id.Content] = append(ix.more[id.Content], id.Class)
		return
	}
	ix.first[id.Content] = id.Class
}

func (ix index) has(id SampleID) bool {
	c, ok := ix.first[id.Content]
	return ok && (c == id.Class || slices.Contains(ix.more[id.Content], id.Class))
}

func (ix index) classes(content Hash) []string {
	c, ok := ix.first[content]
	if !ok {
		return nil
	}
	return append([]string{c}, ix.more[content]...)
}

// find resolves the empty labels of b and returns each of its samples once.
func (ix index) find(b Batch) (rows []int, ids []SampleID, err error) {
	seen := map[SampleID]bool{}
	var missing []string
	for i, label := range b.Labels {
		if label == "" {
			classes := ix.classes(b.Content[i])
			if len(classes) > 1 {
				return nil, nil, fmt.Errorf("%s was learned as %s: give the label", b.name(i), listed(classes))
			}
			if len(classes) == 1 {
				label = classes[0]
			}
		}
		id := SampleID{Content: b.Content[i], Class: label}
		switch {
		case !ix.has(id):
			missing = append(missing, b.name(i))
		case !seen[id]:
			seen[id] = true
			rows, ids = append(rows, i), append(ids, id)
		}
	}
	if len(missing) > 0 {
		return nil, nil, &NotLearnedError{missing}
	}
	return rows, ids, nil
}
