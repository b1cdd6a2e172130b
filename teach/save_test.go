package teach

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model"
)

// taught is a session with a model of nine photos, and its folder.
func taught(t *testing.T) (w world, s *Session, dir string) {
	t.Helper()
	w, dir = newWorld(3, 10), t.TempDir()
	s = w.openAt(t, dir, "plda")
	w.name(t, s, upTo(0, 9)...)
	s.Wait()
	return w, s, dir
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(file))(t)
}

func write(t *testing.T, file string, b []byte) {
	t.Helper()
	must.Do(t, os.WriteFile(file, b, 0o600))
}

// expectUnsaved compares what the status says, and saves, which has to work.
func expectUnsaved(t *testing.T, s *Session, want int) {
	t.Helper()
	if got := s.Status().Unsaved; got != want {
		t.Errorf("%d decisions are unsaved, want %d", got, want)
	}
	save(t, s)
	if got := s.Status().Unsaved; got != 0 {
		t.Errorf("%d decisions are unsaved after saving", got)
	}
}

// A save goes on when the request for it has ended, and the session does not end
// before it.
func TestSaveOutlivesItsRequest(t *testing.T) {
	_, s, _ := taught(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = s.Save(ctx)
	must.Do(t, s.Close())
	if _, err := os.Stat(s.options.Model); err != nil {
		t.Errorf("the session ended without the model: %v", err)
	}
	if n := s.Status().Unsaved; n != 0 {
		t.Errorf("%d decisions are unsaved", n)
	}
}

// What a save that failed was to write stays unsaved, also for the next session,
// and saving again writes it.
func TestFailedSaveIsNotSaved(t *testing.T) {
	w, s, dir := taught(t)
	save(t, s)
	inTheWay := s.options.Model + ".prev" // no file can have this name now
	must.Do(t, os.Mkdir(inTheWay, 0o700))
	w.name(t, s, 9, 10)
	if _, err := s.Save(t.Context()); err == nil {
		t.Fatal("the save did not fail")
	}
	if got := s.Status().Unsaved; got != 2 {
		t.Errorf("%d decisions are unsaved, want 2", got)
	}
	if points := s.Points(); points[len(points)-1].Do == Save {
		t.Errorf("the history says that the model was saved: %+v", points)
	}
	must.Do(t, s.Close())
	s = w.openAt(t, dir, "plda")
	must.Do(t, os.Remove(inTheWay))
	expectUnsaved(t, s, 2)
}

// killed returns a folder with the files that a kill leaves in the middle of a save:
// the journal ends after the given number of lines of the save, and MODEL was written or
// not.
func killed(t *testing.T, lines int, renamed bool) (w world, dir string) {
	t.Helper()
	w, s, from := taught(t)
	before := len(s.journal.lines)
	save(t, s)
	must.Do(t, s.Close())
	dir = t.TempDir()
	rows := bytes.SplitAfter(read(t, filepath.Join(from, "m.model"+journalSuffix)), []byte("\n"))
	write(t, filepath.Join(dir, "m.model"+journalSuffix), bytes.Join(rows[:before+lines], nil))
	copyFile(t, filepath.Join(from, "m.model"+baseSuffix), filepath.Join(dir, "m.model"+baseSuffix))
	if renamed {
		copyFile(t, filepath.Join(from, "m.model"), filepath.Join(dir, "m.model"))
	}
	return w, dir
}

// After a kill before the file was written all decisions are unsaved; after one
// between writing it and the line that says so none are, and the file is known.
func TestKilledWhileSaving(t *testing.T) {
	w, dir := killed(t, 1, false)
	expectUnsaved(t, w.openAt(t, dir, "plda"), 9)
	w, dir = killed(t, 2, false)
	expectUnsaved(t, w.openAt(t, dir, "plda"), 9)
	w, dir = killed(t, 2, true)
	expectUnsaved(t, w.openAt(t, dir, "plda"), 0)
	w, dir = killed(t, 1, true) // as by version 0.1, which did not announce the file
	expectUnsaved(t, w.openAt(t, dir, "plda"), 0)
}

// A save joins one that is running if that writes everything, and otherwise comes
// after it, so that the file is the newest.
func TestSavesAtATime(t *testing.T) {
	w, s, dir := taught(t)
	s.fitting.Lock() // no save comes further than its first line
	one := must.Get(s.beginSave(false))(t)
	if same, err := s.beginSave(false); same != one || err != nil {
		t.Errorf("a second save is not the first one, %v", err)
	}
	if !s.Status().Saving {
		t.Error("the status says that nothing is being saved")
	}
	w.name(t, s, 9)
	two, err := s.beginSave(false)
	if err != nil || two == one {
		t.Fatalf("a save after another decision is that before it, %v", err)
	}
	s.fitting.Unlock()
	<-two.done
	<-one.done
	s.Wait()
	m, err := model.Load(filepath.Join(dir, "m.model"))
	if err != nil || m.SampleCount() != 10 || m.SHA256() != two.hash || one.hash == two.hash {
		t.Errorf("the file has %d samples, %v", m.SampleCount(), err)
	}
	if st := s.Status(); st.Saving || st.Unsaved != 0 {
		t.Errorf("after saving: %+v", st)
	}
}

// After a save that was broken off, a model that another command wrote is refused as
// at any other time.
func TestBrokenOffSaveDoesNotHideAnotherModel(t *testing.T) {
	w, dir := killed(t, 1, false)
	for i, p := range w.photos {
		w.photos[i].Class = w.truth[p.ID]
	}
	w.trainAt(t, dir, upTo(0, 20)...)
	s, err := Open(Options{Model: filepath.Join(dir, "m.model"), Dim: dim, Temp: dir})
	if err == nil {
		s.Close()
		t.Error("a model that another command wrote was accepted")
	}
}

// A model that another program writes while the session is open is not overwritten, by
// any number of saves, until it is moved away.
func TestSaveKeepsWhatAnotherProgramWrote(t *testing.T) {
	w, s, dir := taught(t)
	save(t, s)
	for i, p := range w.photos {
		w.photos[i].Class = w.truth[p.ID]
	}
	w.trainAt(t, dir, upTo(0, 20)...)
	theirs := read(t, s.options.Model)
	w.name(t, s, 9)
	for range 3 {
		var refused *Refusal
		if _, err := s.Save(t.Context()); !errors.As(err, &refused) {
			t.Errorf("the save was not refused: %v", err)
		}
		if !bytes.Equal(read(t, s.options.Model), theirs) {
			t.Fatal("the save overwrote the model")
		}
	}
	must.Do(t, os.Rename(s.options.Model, filepath.Join(dir, "theirs.model")))
	expectUnsaved(t, s, 1)
}

// A model that was moved away is written again.
func TestModelThatWasMovedAway(t *testing.T) {
	w, s, dir := taught(t)
	want := save(t, s)
	must.Do(t, s.Close())
	must.Do(t, os.Rename(s.options.Model, filepath.Join(dir, "moved.model")))
	s = w.openAt(t, dir, "plda")
	expectUnsaved(t, s, 9)
	if !bytes.Equal(read(t, s.options.Model), want) {
		t.Error("another model was written")
	}
}
