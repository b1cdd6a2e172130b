package teach

import (
	"bytes"
	"maps"
	"slices"

	"github.com/seed-90d10d51/pipeline/model"
)

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

// wouldWrite reports whether a model has learned what a model of a state has.
func (b *base) wouldWrite(m *model.Model, st *state) bool {
	return m.Method == b.model.Method && bytes.Equal(m.HeadConfig, b.model.HeadConfig) &&
		maps.Equal(setOf(samplesOf(m)), setOf(st.examples()))
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
