package teach

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/model"
)

// A record is the two files that the model follows from, which lie next to MODEL: the base
// model, and the journal of what was decided since.
type record struct {
	file    string // MODEL
	journal *journal
	base    *base // nil before it is open
}

// open reads the files, and MODEL, and returns the state and the line up to which MODEL has
// learned all decisions. It writes only to begin a journal, when nothing else can fail.
func (r *record) open(
	start, fresh *model.Model, backend linalg.Backend, dim int, now time.Time,
) (st *state, inFile int, err error) {
	if len(r.journal.lines) == 0 {
		if err := r.begin(fresh, backend, now); err != nil {
			return nil, 0, err
		}
		return r.replay(), 0, nil
	}
	if err := r.resume(start, backend); err != nil {
		return nil, 0, err
	}
	if err := r.journal.checkDim(cmp.Or(r.base.model.Dim(), dim)); err != nil {
		return nil, 0, err
	}
	inFile, err = r.fileAt(r.replay())
	if changed := (*changedError)(nil); errors.As(err, &changed) {
		inFile, err = r.adopt(changed, now)
	}
	return r.replay(), inFile, err
}

// replay returns the state that follows from the files.
func (r *record) replay() *state { return fold(r.journal.lines, r.base.origin) }

// close frees the files.
func (r *record) close() error { return errors.Join(r.journal.Close(), r.base.close()) }

// abandon closes files that could not be opened. A journal without a line is only of use
// next to a base model.
func (r *record) abandon() error {
	var err error
	if len(r.journal.lines) == 0 && free(r.file+baseSuffix) && r.journal.intact() == nil {
		err = r.journal.remove()
	}
	return errors.Join(err, r.close())
}

// discard removes the files, while the journal is locked, and so that a kill leaves what
// begin goes on from.
func (r *record) discard() error {
	return errors.Join(r.journal.file.Truncate(0), r.base.close(), atomicfile.Remove(r.base.file),
		r.journal.remove())
}

// begin writes the base model and the first line of the journal. A base model that is
// there is the same one, of a session that was killed here, or is kept. It starts from
// fresh, unless that is nil, if there is no MODEL.
func (r *record) begin(fresh *model.Model, backend linalg.Backend, now time.Time) error {
	base := r.file + baseSuffix
	m, err := model.Load(r.file)
	was := ""
	switch {
	case err == nil:
		was = m.SHA256()
	case errors.Is(err, fs.ErrNotExist) && fresh != nil:
		m = fresh
	default:
		return err
	}
	m.DropPrevious = true
	m.Replacing = func(present, _ string) error {
		if present == "" {
			return nil
		}
		return fmt.Errorf("there is another one, which some journal may need: "+
			"move %s away to begin a new journal", base)
	}
	if err := m.SaveLike(base, r.file); err != nil {
		return err
	}
	if r.base, err = openBase(base, backend, nil); err != nil {
		return err
	}
	_, err = r.journal.append(Line{Decision: Decision{Do: Start}, Time: now, Model: r.base.model.SHA256(), Was: was})
	return err
}

// resume opens the base model, which has to be the one that the journal starts from. What was read of it before, if
// anything, may be another one by now.
func (r *record) resume(read *model.Model, backend linalg.Backend) (err error) {
	base, start := r.file+baseSuffix, r.journal.lines[0]
	if read != nil && (start.To != "" || read.SHA256() != start.Model) {
		read = nil
	}
	if r.base, err = openBase(base, backend, read); err != nil {
		return fmt.Errorf("the journal needs the model that it starts from: %w", err)
	}
	if have := r.base.model.SHA256(); have != start.Model && have != start.To {
		return fmt.Errorf("%s is not the model that the journal %s starts from (SHA-256 %.12s…, not %.12s…): "+
			"restore it from a copy", base, r.journal.path, have, start.Model)
	}
	return nil
}

// fileAt returns the line up to which MODEL has learned all decisions of a state, 0 if there
// is no such file. It refuses one that is of another program.
func (r *record) fileAt(st *state) (seq int, err error) {
	m, err := model.Load(r.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil // everything is unsaved
	case err != nil:
		return 0, err
	}
	seq, known := st.writtenAt(m.SHA256())
	if save := st.brokenOff(); !known && save != nil {
		seq, known = save.Seq, r.base.wouldWrite(m, fold(st.lines[:save.Seq-1], st.origin))
	}
	if !known {
		return 0, &changedError{r.file, m}
	}
	return seq, nil
}

// A changedError reports that MODEL is one that another program wrote.
type changedError struct {
	file  string
	model *model.Model
}

func (e *changedError) Error() string {
	return fmt.Sprintf("another command changed %s since it was served, in a way that its journal cannot follow: "+
		"to go on with the journal, move %[1]s away; to teach the changed model, copy it and serve the copy", e.file)
}

// adopt adds to the journal what another command has taught MODEL since a session wrote it,
// which 0.1 did without the journal, and returns the line up to which MODEL has learned all
// decisions. What was decided rules.
func (r *record) adopt(changed *changedError, now time.Time) (inFile int, err error) {
	m, st := changed.model, r.replay()
	inFile = st.lastWritten()
	b, complete := m.Examples()
	if !complete || !r.extends(m, fold(st.lines[:inFile], st.origin)) {
		return 0, changed
	}
	b.Paths = make([]string, len(b.Labels)) // a conflict needs none
	l, _, err := st.imported(b, nil, Decisions, ConflictsError{})
	if err == nil {
		err = st.checkForgets(l)
	}
	if err != nil {
		return 0, changed
	}
	if l.Time = now; len(l.Images) > 0 {
		given := vectorsOf(b, nil)
		for _, id := range l.Images {
			if !r.stored(id) {
				l.embed(id, given[id])
			}
		}
		if _, err := r.append(l); err != nil {
			return 0, err
		}
	}
	_, err = r.append(Line{Decision: Decision{Do: Saved, Of: inFile}, Time: now, Model: m.SHA256()})
	return inFile, err
}

// extends reports whether a model is one of a state that has learned more.
func (r *record) extends(m *model.Model, st *state) bool {
	base, has, had := r.base.model, setOf(samplesOf(m)), st.examples()
	return len(had) > 0 && len(has) > len(had) && m.Method == base.Method &&
		bytes.Equal(m.HeadConfig, base.HeadConfig) &&
		m.Accepts(base.Provenance) == nil && (base.Dim() == 0 || base.Dim() == m.Dim()) &&
		!slices.ContainsFunc(had, func(s model.SampleID) bool { return !has[s] })
}

// append writes a line to the journal.
func (r *record) append(l Line) (Line, error) {
	if err := r.base.intact(); err != nil {
		return l, err
	}
	return r.journal.append(l)
}

// intact returns an error unless what was decided can be read again from the files
// with their names.
func (r *record) intact() error {
	if err := r.base.intact(); err != nil {
		return err
	}
	return r.journal.intact()
}

// restore writes the journal and the base model again if their names are free.
func (r *record) restore() error {
	if free(r.base.file) {
		if err := r.base.restore(); err != nil {
			return err
		}
	}
	if free(r.journal.path) {
		return r.journal.restore()
	}
	return nil
}

// stored reports whether the journal or the base model has the embedding of a photo.
func (r *record) stored(id ID) bool { return r.row(id) != nil }

// row returns the stored embedding of a photo; nil for none.
func (r *record) row(id ID) []float32 {
	if x := r.base.rows[id]; x != nil {
		return x
	}
	return r.journal.embedding(id)
}

// forget removes photos from the journal, and replaces the base model unless the new one
// is nil. It returns the photos that it found.
func (r *record) forget(gone map[ID]bool, base *model.Model, temp string) (found map[ID]bool, err error) {
	if found, err = r.journal.Forget(gone); err != nil {
		return nil, err
	}
	if base == nil {
		return found, r.rebased()
	}
	for _, sample := range r.base.samples {
		if id := ID(sample.Content); gone[id] {
			found[id] = true
		}
	}
	return found, r.rebase(base, temp)
}

// rebase replaces the base model. The journal knows both models meanwhile, so that a
// session that is killed here can be opened again.
func (r *record) rebase(m *model.Model, temp string) error {
	_, _ = atomicfile.RemoveStale(temp) // leftovers of killed sessions are harmless
	dir, err := atomicfile.CreateDir(filepath.Join(temp, "teach"), nil)
	if err != nil {
		return err
	}
	defer dir.Abort()
	m.DropPrevious = true
	if err := m.SaveLike(filepath.Join(dir.Path(), "base"), r.base.file); err != nil { // to know its SHA-256
		return err
	}
	next := m.SHA256()
	if err := r.journal.rebase(r.base.model.SHA256(), next); err != nil {
		return err
	}
	if err := r.base.close(); err != nil { // on Windows, what is open cannot be replaced
		return err
	}
	if err := m.Save(r.base.file); err != nil {
		return errors.Join(err, r.base.hold())
	}
	base, err := openBase(r.base.file, r.base.backend, nil)
	if err != nil {
		return err
	}
	r.base = base
	return r.rebased()
}

// rebased notes in the journal that the base model has been replaced.
func (r *record) rebased() error {
	if next := r.journal.lines[0].To; next == r.base.model.SHA256() {
		return r.journal.rebase(next, "")
	}
	return nil
}
