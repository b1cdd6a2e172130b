package teach

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// A Step is a line of the journal and whether it is undone now.
type Step struct {
	Line
	Undone bool
}

// History returns at most limit lines before seq, 0 for the end, the last one first,
// without the first line and the Saved ones.
func (s *Session) History(before, limit int) []Step {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.history(before, limit)
}

func (s *state) history(before, limit int) []Step {
	if before <= 0 || before > len(s.lines)+1 {
		before = len(s.lines) + 1
	}
	inForce := map[int]bool{}
	for _, l := range s.inForce {
		inForce[l.Seq] = true
	}
	for l := range s.done.down() {
		inForce[l.Seq] = inForce[l.Seq] || l.Do == Back
	}
	out := []Step{}
	for i := before - 2; i >= 0 && len(out) < limit; i-- {
		if l := s.lines[i]; l.Do != Start && l.Do != Saved {
			out = append(out, Step{l, l.decides() && !inForce[l.Seq]})
		}
	}
	return out
}

// takeBack returns the line that undoes or redoes the last one of some decisions.
func takeBack(do Do, decisions *stack) (Line, error) {
	if decisions == nil {
		return Line{}, refuse(Conflict, "there is nothing to %s", do)
	}
	return Line{Decision: Decision{Do: do, Of: decisions.last.Seq}}, nil
}

// back returns the line that makes everything as it was after line seq.
func (s *state) back(seq int) (Line, error) {
	if last := len(s.lines); seq < 1 || seq > last {
		return Line{}, refuse(Unknown, "the history has no line %d: it has lines 1 to %d", seq, last)
	}
	same := func(a, b Line) bool { return a.Seq == b.Seq }
	if slices.EqualFunc(s.force(s.after[seq-1]), s.inForce, same) {
		return Line{}, refuse(Conflict, "everything is as after line %d already", seq)
	}
	return Line{Decision: Decision{Do: Back, Of: seq}}, nil
}

// A Point is a fit of the model, or the end of the journal.
type Point struct {
	Seq  int       `json:"seq"`
	Time time.Time `json:"time"`
	Do   Do        `json:"do"` // of line Seq; Refit for a Save that did not finish
	// Decisions counts those since the point before, Undo and Redo too; Labels the
	// photos that have a label of a person.
	Decisions int `json:"decisions"`
	Labels    int `json:"labels"`
	// New and Gone are classes since the point before.
	New  []string `json:"new,omitempty"`
	Gone []string `json:"gone,omitempty"`
}

// Points returns the points of the journal of a MODEL file, which may be in use;
// none if there is no journal.
func Points(file string) ([]Point, error) {
	lines, err := readLines(file + journalSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	base, err := model.Load(file + baseSuffix)
	if err != nil {
		return nil, err
	}
	return points(lines, originOf(base)), nil
}

// Points returns the points of the journal.
func (s *Session) Points() []Point {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return points(s.state.lines, s.state.origin)
}

func points(lines []Line, base *origin) []Point {
	out := []Point{}
	written := map[int]bool{}
	for _, l := range lines {
		if l.Do == Saved && l.Model != "" {
			written[l.Of] = true
		}
	}
	s, p, before := fold(nil, base), Point{}, base.classes
	taken := 0
	for i, l := range lines {
		if l.changes() {
			p.Decisions++
		}
		if l.Do != Refit && l.Do != Save && (i < len(lines)-1 || p.Decisions == 0) {
			continue
		}
		s.take(lines[taken : i+1]...)
		taken = i + 1
		p.Seq, p.Time, p.Do, p.Labels = l.Seq, l.Time, l.Do, s.count(label.Person)
		if l.Do == Save && !written[l.Seq] {
			p.Do = Refit
		}
		now := s.current()
		p.New, p.Gone = without(now, before), without(before, now)
		out, p, before = append(out, p), Point{}, now
	}
	return out
}

// readLines reads the complete lines of a journal that another process may be
// writing.
func readLines(path string) ([]Line, error) {
	j, err := readJournal(path)
	if err != nil {
		return nil, err
	}
	return j.lines, nil
}

// readJournal reads a journal that others may have open. It is closed already.
func readJournal(path string) (_ *journal, err error) {
	j := &journal{path: path, embeddings: map[ID][]float32{}}
	if j.file, _, err = regularfile.Open(path); err != nil {
		return nil, err
	}
	defer j.file.Close()
	if err := j.read(); err != nil {
		return nil, j.named(err)
	}
	return j, nil
}

func without(names, less []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(less, name) })
}
