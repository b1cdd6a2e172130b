package teach

import (
	"errors"
	"io/fs"

	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// Decided returns what people decided about the photos of a MODEL file, which is in m: in
// its journal, which a server may have open, and by teaching it folders and lists.
func Decided(file string, m *model.Model) (label.Decisions, error) {
	from := m
	lines, err := readLines(file + journalSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		lines, err = nil, nil
	}
	if err == nil && len(lines) > 0 {
		from, err = model.Load(file + baseSuffix)
	}
	if err != nil {
		return nil, err
	}
	st := fold(lines, originOf(from))
	return func(content [32]byte) (label.Decision, bool) { return st.decision(content) }, nil
}

// decision returns what people decided about a photo. One that was learned as several
// classes is decided as none of them.
func (s *state) decision(id ID) (label.Decision, bool) {
	if m, ok := s.marks[id]; ok {
		d := label.Decision{Class: m.class(), Labels: m.labels(), By: m.by.Written(), Again: m.again}
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
