package teach

import (
	"errors"
	"io/fs"

	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// Decided returns what people decided about the photos of a MODEL file, which is in m: in
// its journal, which a server may have open, and by teaching it folders and lists.
func Decided(file string, m *model.Model) (label.Decisions, error) {
	st, err := stateOf(file, m, nil)
	if err != nil {
		return nil, err
	}
	return func(content [32]byte) (label.Decision, bool) { return st.decision(content) }, nil
}

// Measured returns what was measured of the labels of a MODEL file, nil for nothing.
func Measured(file string, m *model.Model) (*account.Measured, error) {
	st, err := stateOf(file, m, nil)
	if err != nil {
		return nil, err
	}
	return st.measured(), nil
}

// Learned returns the account of the photos that a MODEL file, which is in m, has learned, and of those that were
// decided on its page. start is the model that its journal starts from, nil to read it.
func Learned(file string, m, start *model.Model) (account.Account, error) {
	st, err := stateOf(file, m, start)
	if err != nil {
		return account.Account{}, err
	}
	t := account.NewTally(m.Predictor.Calibration, m.Classes())
	for _, name := range st.current() {
		t.Column(name)
	}
	for _, mark := range st.marks {
		t.Decide(mark.by.Who(), mark.class())
	}
	for id := range st.learned {
		if _, marked := st.marks[id]; !marked {
			class, by := st.label(id, "")
			t.Decide(by.Who(), class)
		}
	}
	t.Measure(st.measured())
	return t.Of(m), nil
}

// stateOf returns what the journal of a MODEL file, which is in m, amounts to. start is the model that it starts
// from, nil to read it.
func stateOf(file string, m, start *model.Model) (*state, error) {
	lines, err := readLines(file + journalSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		lines, err = nil, nil
	}
	switch {
	case err != nil || len(lines) == 0:
		start = m
	case start == nil:
		start, err = model.Load(file + baseSuffix)
	}
	if err != nil {
		return nil, err
	}
	return fold(lines, originOf(start)), nil
}

// Kept returns the photos that were kept where others were set aside as their copies, with the model of a MODEL file,
// which is in m.
func Kept(file string, m *model.Model) (map[[32]byte]bool, error) {
	st, err := stateOf(file, m, nil)
	if err != nil {
		return nil, err
	}
	kept := map[[32]byte]bool{}
	for id := range st.marks {
		if of := st.copyOf(id); of != nil {
			kept[*of] = true
		}
	}
	return kept, nil
}

// copyOf returns the photo that is kept instead of one that was set aside as its copy, nil for others.
func (s *state) copyOf(id ID) *ID {
	if m := s.marks[id]; m.by == label.Ignored {
		return s.lines[m.seq-1].Kept
	}
	return nil
}

// decision returns what people decided about a photo. One that was learned as several
// classes is decided as none of them.
func (s *state) decision(id ID) (label.Decision, bool) {
	if m, ok := s.marks[id]; ok {
		d := label.Decision{Class: m.class(), Labels: m.labels(), By: m.by.Written(), Again: m.again}
		if of := s.copyOf(id); of != nil {
			d.CopyOf = *of
		}
		if d.By != label.List { // a list was decided earlier
			d.At = s.lines[m.seq-1].Time
		}
		return d, true
	}
	first := ""
	for i, class := range s.learned[id] {
		switch name := s.name(class); {
		case i == 0:
			first = name
		case name != first:
			return label.Decision{}, false
		}
	}
	return label.Decision{Class: first, By: label.List}, first != ""
}
