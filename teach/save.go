package teach

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/model"
)

// A saving writes the model of all lines up to its own. The journal has three lines of
// it: Save when it begins, Saved with the SHA-256 of the file as To before the file is
// replaced, and Saved with that as Model afterwards. So every file that a session
// may have written is known, whenever it is killed.
type saving struct {
	seq          int // its line Save
	dropPrevious bool
	after        *saving // that began before and was running still
	done         chan struct{}
	hash         string // after done
	err          error
}

// saves are those of a session.
type saves struct {
	// inFile is the line up to which the file of the model has learned all decisions.
	inFile   int
	saving   *saving // nil if there is none
	notSaved error   // why the last one failed
}

// failed remembers why a save failed, nil if it did not. What is Lost or Unkept is known
// as long as it is.
func (s *saves) failed(err error) error {
	if !refused(err, Lost) && !refused(err, Unkept) {
		s.notSaved = err
	}
	return err
}

// Save fits the model to all decisions and writes its file. It returns the SHA-256
// of the file. A Refusal says that another program changed the file, or that there is no
// model yet. Once begun a save goes on, also when ctx ends, and Close waits for it.
func (s *Session) Save(ctx context.Context) (string, error) {
	sv, err := s.beginSave(false)
	if err != nil {
		return "", err
	}
	return sv.wait(ctx)
}

// wait waits for the end of a save, and returns the SHA-256 of the file.
func (sv *saving) wait(ctx context.Context) (string, error) {
	select {
	case <-sv.done:
		return sv.hash, sv.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// beginSave begins a save in the background, or returns the one that is running if
// that writes everything that was decided.
func (s *Session) beginSave(dropPrevious bool) (*saving, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return nil, errors.New("save: the session is closed")
	}
	if err := s.restore(); err != nil {
		return nil, s.failed(err)
	}
	if sv := s.saving; sv != nil && sv.dropPrevious == dropPrevious && s.state.changesSince(sv.seq) == 0 {
		return sv, nil
	}
	if !enough(s.state.examples()) {
		return nil, refuse(Conflict, "there is no model to save: name photos of two classes first")
	}
	l, err := s.append(s.supplied(Line{Decision: Decision{Do: Save}}))
	if err != nil {
		return nil, s.failed(err)
	}
	sv := &saving{seq: l.Seq, dropPrevious: dropPrevious, after: s.saving, done: make(chan struct{})}
	s.saving = sv
	s.working.Go(func() { s.finish(sv) })
	go s.options.Changed("status")
	return sv, nil
}

// finish does what beginSave began. What fails once the file is written is a matter of the
// fit, not of the save.
func (s *Session) finish(sv *saving) {
	if sv.after != nil {
		<-sv.after.done // or it might replace the newer file
		sv.after = nil
	}
	_, err := s.fitTo(context.WithoutCancel(s.ctx), sv.seq, func(m *model.Model) error { return s.write(sv, m) })
	s.mu.Lock()
	if err != nil && sv.hash != "" {
		s.refit.err, err = err, nil
	}
	sv.err = s.failed(err)
	if s.saving == sv {
		s.saving = nil
	}
	s.touch()
	s.mu.Unlock()
	close(sv.done)
	s.options.Changed("change")
}

// write writes the file; before and afterwards it writes down which one, and it refuses if
// the present one is of another program.
func (s *Session) write(sv *saving, m *model.Model) error {
	m.ToolVersion, m.DropPrevious = s.options.ToolVersion, sv.dropPrevious
	m.Replacing = func(present, next string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		err := s.state.checkReplaces(present, filepath.Base(s.options.Model))
		if err == nil {
			_, err = s.append(Line{Decision: Decision{Do: Saved, Of: sv.seq, To: next}})
		}
		return err
	}
	if err := m.Save(s.options.Model); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.append(Line{Decision: Decision{Do: Saved, Of: sv.seq}, Model: m.SHA256()}); err != nil {
		return err
	}
	s.inFile, sv.hash = sv.seq, m.SHA256()
	return nil
}

// SaveIfAble is Save, unless there is no model to write yet: then unsaved says why, which is no
// error.
func (s *Session) SaveIfAble(ctx context.Context) (unsaved string, err error) {
	_, err = s.Save(ctx)
	refused := (*Refusal)(nil)
	switch {
	case err == nil:
		return "", nil
	case !errors.As(err, &refused):
		return "", err
	case refused.Reason == Conflict:
		return refused.Text, nil
	}
	return "", refused // without what it was wrapped in
}
