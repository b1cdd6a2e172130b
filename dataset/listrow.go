package dataset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// columns says which cells of a record are what; -1 is none.
type columns struct {
	path, label, split, session, taken int
	// several has the labels of photos without one, by says who labelled, and ranked has the
	// best of the classes that the program suggests; these three are in its own tables.
	several, by, ranked int
	// suffix is appended to paths without it.
	suffix string
	// from says which name of a taxonomy is the class.
	from ClassFrom
	// guessed tells the user, "" if nothing was guessed.
	guessed string
}

// A listRow is one record of a list, not yet checked against the disk.
type listRow struct {
	columns
	sample   Sample
	labelled bool // the label was given, even if empty
	literal  bool
	safe     bool // as SafeCell writes cells
	// more reports that several rows of one photo tell of several things in it.
	more bool
	// setAside reports that a person decided about the photo; without a label it is of no class.
	setAside bool
	// predicted reports that the label is not to be taken for one.
	predicted bool
	number    int
	unit      string
	err       error // why the row cannot be used
}

// label takes the labels out of the cells. No cell is longer than what it should be, and no label
// longer than the name of a class.
func (r *listRow) label(cells []string, decided, probabilities bool) error {
	several := field(cells, r.several)
	err := cmp.Or(checkPath(r.sample.Path), checkLength("label", r.sample.Label, maxCellBytes),
		checkLength("labels", several, maxCellBytes), checkLength("split", r.sample.Split, maxNameBytes),
		checkLength("session", r.sample.Session, maxNameBytes), checkLength("time", r.sample.Taken, maxNameBytes))
	if err != nil {
		return err
	}
	r.predicted = decided && r.ofProgram(cells, probabilities)
	r.setAside = r.sample.Label == asideCell || r.by >= 0 && field(cells, r.by) == "person"
	r.sample.label(r.labels(several))
	for _, name := range r.sample.labels() {
		err = cmp.Or(err, checkLength("label", name, maxNameBytes))
	}
	return err
}

// eachListed calls use with every record that has a path.
func eachListed(file io.ReaderAt, size int64, g guesser, use func(listRow) error) error {
	records, err := openRecords(file, size, g)
	if err != nil {
		return err
	}
	if records, err = g.combined(records); err != nil {
		return readAs(records.encoding, err)
	}
	c, err := g.columns(records)
	if err != nil {
		return err
	}
	wanted := slices.DeleteFunc([]int{c.path, c.label, c.split, c.session, c.taken, c.several, c.by, c.ranked},
		func(i int) bool { return i < 0 })
	var failed error
	err = records.each(wanted, func(number int, cells []string) bool {
		row := listRow{columns: c, literal: records.literal, safe: records.safe, number: number, unit: records.unit,
			labelled: c.label >= 0 && c.label < len(cells), more: records.several}
		row.sample = Sample{Path: field(cells, c.path), Label: field(cells, c.label), Split: field(cells, c.split),
			Session: field(cells, c.session), Taken: field(cells, c.taken)}
		switch {
		case row.sample.Path == "":
			return true
		case !row.literal && !utf8.ValidString(row.sample.Label):
			failed = fmt.Errorf("%s %d: %w", row.unit, number, notUTF8(row.sample.Label))
		default:
			row.err = row.label(cells, g.opts.Decided, slices.Contains(records.header, "probability"))
			failed = use(row)
		}
		return failed == nil
	})
	return readAs(records.encoding, errors.Join(failed, err))
}

// readAs adds the encoding of a text to an error, if it is not UTF-8.
func readAs(encoding string, err error) error {
	if err == nil || encoding == "" {
		return err
	}
	return fmt.Errorf("%w (the text was read as %s)", err, encoding)
}

// notUTF8 says what to do with a text of another encoding, most often that of Excel.
func notUTF8(label string) error {
	hint := ""
	if meant := windows1252(shown(label)); meant != "" {
		hint = fmt.Sprintf("; if it means %q, the list is in Windows-1252", meant)
	}
	return fmt.Errorf("the label %q is not UTF-8%s; save the list as UTF-8 (in Excel: CSV UTF-8; in a shell: iconv -f "+
		"WINDOWS-1252 -t UTF-8)", shown(label), hint)
}

// labels returns the labels of a row: a cell of several choices has several, and so may one
// of the program's own tables. Without a label those of the column several count.
func (r listRow) labels(several string) []string {
	cell := r.sample.Label
	if cell == "" {
		cell = several
	}
	if r.literal {
		return []string{cell}
	}
	if several := severalIn(cell, r.from); several != nil {
		return several
	}
	if r.by < 0 || r.several >= 0 && r.sample.Label != "" { // where several things have a column, a label is one
		return []string{r.plain(cell)}
	}
	if r.safe {
		cell = plainCell(cell)
	}
	labels := SplitLabels(cell)
	for i, label := range labels {
		labels[i] = UnescapePath(label)
	}
	return labels
}

// label sets the label, or several.
func (s *Sample) label(labels []string) {
	s.Label, s.Several = "", ""
	for i, label := range labels {
		labels[i] = spelled(label)
	}
	labels = slices.DeleteFunc(labels, func(label string) bool { return label == "" })
	slices.Sort(labels)
	switch labels = slices.Compact(labels); len(labels) {
	case 0:
	case 1:
		s.Label = labels[0]
	default:
		s.Several = JoinLabels(labels...)
	}
}

// labels returns the labels of a sample.
func (s Sample) labels() []string {
	if s.Label != "" {
		return []string{s.Label}
	}
	return SplitLabels(s.Several)
}

// ofProgram reports whether the label of a row is the program's own, and was not corrected. A
// table of the program that has probabilities says by whom each label is; a prediction that was
// corrected is not the first of the ranked classes, of other labels nothing tells.
func (r listRow) ofProgram(cells []string, probabilities bool) bool {
	by := field(cells, r.by)
	if r.by < 0 || !probabilities || by != "" && by != "bulk" && by != "detector" {
		return false
	}
	var ranked [][]any
	if by != "" || r.ranked < 0 || json.Unmarshal([]byte(field(cells, r.ranked)), &ranked) != nil {
		return true
	}
	label := r.sample.Label
	if r.safe {
		label = plainCell(label)
	}
	return len(ranked) > 0 && len(ranked[0]) > 0 && label == JoinLabels(fmt.Sprint(ranked[0][0]))
}

// plain undoes what the program does to a name that it writes.
func (r listRow) plain(name string) string {
	if r.literal {
		return name
	}
	if r.safe {
		name = plainCell(name)
	}
	return UnescapePath(name)
}
