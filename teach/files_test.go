package teach

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

// A decision is refused, and the session is not healthy, as long as the journal or the
// base model is not the file with its name; the file that has its name is not
// touched. After putting it back the session goes on.
func TestDecisionsNeedTheirFiles(t *testing.T) {
	rename := func(t *testing.T, from, to string) {
		t.Helper()
		must.Do(t, os.Rename(from, to))
	}
	for what, c := range map[string]struct {
		suffix    string
		harm, end func(t *testing.T, file string)
	}{
		"moved": {journalSuffix,
			func(t *testing.T, file string) { rename(t, file, file+".moved") },
			func(t *testing.T, file string) { rename(t, file+".moved", file) }},
		"replaced by a copy": {journalSuffix,
			func(t *testing.T, file string) { rename(t, file, file+".moved"); copyFile(t, file+".moved", file) },
			func(t *testing.T, file string) { rename(t, file+".moved", file) }},
		"shortened": {journalSuffix,
			func(t *testing.T, file string) { copyFile(t, file, file+".copy"); write(t, file, nil) },
			func(t *testing.T, file string) { write(t, file, read(t, file+".copy")) }},
		"longer": {journalSuffix,
			func(t *testing.T, file string) {
				copyFile(t, file, file+".copy")
				write(t, file, append(read(t, file), "{}\n"...))
			},
			func(t *testing.T, file string) { write(t, file, read(t, file+".copy")) }},
		"base moved": {baseSuffix,
			func(t *testing.T, file string) { rename(t, file, file+".moved") },
			func(t *testing.T, file string) { rename(t, file+".moved", file) }},
		"base replaced": {baseSuffix,
			func(t *testing.T, file string) { rename(t, file, file+".moved"); write(t, file, []byte("other")) },
			func(t *testing.T, file string) { rename(t, file+".moved", file) }},
	} {
		t.Run(what, func(t *testing.T) {
			w, s, dir := taught(t)
			file := filepath.Join(dir, "m.model"+c.suffix)
			lines := len(s.journal.lines)
			c.harm(t, file)
			before, _ := os.ReadFile(file)
			if err := s.Healthy(); err == nil {
				t.Error("the session says that it is healthy")
			}
			if _, err := s.Do(Decision{Do: Label, Images: []ID{w.photos[9].ID}, Class: "class 0"}); err == nil {
				t.Error("a decision was made")
			}
			if _, _, err := s.Forget(t.Context(), []ID{w.photos[0].ID}); err == nil {
				t.Error("a photo was forgotten")
			}
			if after, _ := os.ReadFile(file); !bytes.Equal(after, before) || len(s.journal.lines) != lines {
				t.Errorf("the file has %d bytes, it had %d; the journal %d lines, it had %d",
					len(after), len(before), len(s.journal.lines), lines)
			}
			if before != nil { // otherwise saving writes it again
				if _, err := s.Save(t.Context()); err == nil {
					t.Error("the model was saved")
				}
			}
			c.end(t, file)
			if err := errors.Join(s.Healthy(), s.Status().NotSaved); err != nil {
				t.Error(err)
			}
			w.name(t, s, 9)
			must.Do(t, s.Close())
			if n := w.openAt(t, dir, "plda").Status().Account.Decided.Person; n != 10 {
				t.Errorf("%d labels are left of 10", n)
			}
		})
	}
}

// Saving writes a journal and a base model that are gone again, with every decision.
func TestSaveWritesWhatIsGone(t *testing.T) {
	for _, suffix := range []string{journalSuffix, baseSuffix} {
		w, s, dir := taught(t)
		file := filepath.Join(dir, "m.model"+suffix)
		before := read(t, file)
		must.Do(t, errors.Join(os.Chmod(file, 0o640), os.Remove(file)))
		want := save(t, s)
		if after := read(t, file); !bytes.HasPrefix(after, before) {
			t.Errorf("%s was written with other content", suffix)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s was written with other permissions: %v, %v", suffix, info.Mode(), err)
		}
		w.name(t, s, 9)
		must.Do(t, s.Close())
		s = w.openAt(t, dir, "plda")
		if n := s.Status().Account.Decided.Person; n != 10 {
			t.Errorf("%s: %d labels are left of 10", suffix, n)
		}
		if !bytes.Equal(read(t, s.options.Model), want) {
			t.Error("opening changed the model")
		}
	}
}

// A session that ends without a decision removes its own files, and no others.
func TestCloseRemovesOnlyItsOwnFiles(t *testing.T) {
	dir := t.TempDir()
	s := newWorld(2, 2).openAt(t, dir, "plda")
	file := filepath.Join(dir, "m.model"+journalSuffix)
	must.Do(t, os.Rename(file, file+".moved"))
	write(t, file, []byte("of somebody else"))
	must.Do(t, s.Close())
	if text, err := os.ReadFile(file); err != nil || string(text) != "of somebody else" {
		t.Errorf("the other file has %q, %v", text, err)
	}
}

// With only the journal moved away no other is begun, whether or not that would need
// another base model, and the journal can be put back.
func TestBaseIsNeverOverwritten(t *testing.T) {
	for _, saved := range []bool{false, true} {
		w, s, dir := taught(t)
		if saved {
			save(t, s)
		}
		must.Do(t, s.Close())
		journal, base := filepath.Join(dir, "m.model"+journalSuffix), filepath.Join(dir, "m.model"+baseSuffix)
		before := read(t, base)
		must.Do(t, os.Rename(journal, journal+".moved"))
		for range 2 {
			again := Options{Model: s.options.Model, Fresh: fresh(t, "plda"), Dim: dim, Temp: dir}
			if s, err := Open(again); err == nil {
				t.Error("a new journal was begun with the base of another", s.Close())
			}
			if after, err := os.ReadFile(base); err != nil || !bytes.Equal(after, before) {
				t.Fatalf("the base model was overwritten, %v", err)
			}
			if _, err := os.Stat(journal); err == nil {
				t.Error("a new journal is in the way of the old one")
			}
		}
		must.Do(t, os.Rename(journal+".moved", journal))
		if n := w.openAt(t, dir, "plda").Status().Account.Decided.Person; n != 9 {
			t.Errorf("%d labels are left of 9", n)
		}
	}
}

// After a kill between the base model and the first line of the journal, or in it, the
// session begins as if it were the first one, but never overwrites a base that
// another session may need.
func TestKilledAtTheBeginning(t *testing.T) {
	w := newWorld(3, 10)
	for _, torn := range []string{"", `{"seq":1,"time":"2026-0`} {
		dir := t.TempDir()
		base, journal := filepath.Join(dir, "m.model"+baseSuffix), filepath.Join(dir, "m.model"+journalSuffix)
		must.Do(t, fresh(t, "plda").Save(base))
		write(t, journal, []byte(torn))
		if file := StartFile(filepath.Join(dir, "m.model")); file != filepath.Join(dir, "m.model") {
			t.Errorf("the session starts from %s", filepath.Base(file))
		}
		before := read(t, base)
		other, err := model.New(model.Settings{Method: "plda", Heads: method.DefaultConfig(), ToolVersion: "another"})
		if err != nil {
			t.Fatal(err)
		}
		again := Options{Model: filepath.Join(dir, "m.model"), Fresh: other, Dim: dim, Temp: dir}
		if s, err := Open(again); err == nil {
			s.Close()
			t.Error("a base of other settings was accepted")
		}
		if after := read(t, base); !bytes.Equal(after, before) {
			t.Fatal("the base was overwritten")
		}
		must.Do(t, w.openAt(t, dir, "plda").Close())
		if !free(base) || !free(journal) {
			t.Error("a session without a decision left files")
		}
	}
}

// A model is free unless a session of it is open, also under the name of a link. Asking
// leaves no file behind.
func TestFree(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "m.model"), filepath.Join(dir, "link.model")
	must.Do(t, errors.Join(fresh(t, "plda").Save(file), os.Symlink("m.model", link)))
	if err := errors.Join(Free(file), Free(link)); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
	s := must.Get(Open(Options{Model: file, Dim: dim, Temp: dir}))(t)
	for _, name := range []string{file, link} {
		if err := Free(name); !errors.Is(err, ErrInUse) {
			t.Errorf("%s: %v", filepath.Base(name), err)
		}
	}
	must.Do(t, s.Close())
	if err := errors.Join(Free(file), Free(link)); err != nil {
		t.Error(err)
	}
}

// A session that cannot go back writes nothing.
func TestOpenAtALine(t *testing.T) {
	_, s, dir := taught(t)
	must.Do(t, s.Close())
	journal := filepath.Join(dir, "m.model"+journalSuffix)
	before := read(t, journal)
	o := s.options
	o.At = 1000
	if s, err := Open(o); err == nil {
		s.Close()
		t.Error("there is a line 1000")
	}
	if !bytes.Equal(read(t, journal), before) {
		t.Error("the journal was changed")
	}
	o.At = 3 // two labels
	s = must.Get(Open(o))(t)
	defer s.Close()
	if st := s.Status(); s.state.count(label.Person) != 2 || st.Undo == "" {
		t.Errorf("after going back: %+v", st)
	}
	if _, err := s.Undo(); err != nil || s.state.count(label.Person) != 9 {
		t.Errorf("%d labels after undoing, %v", s.state.count(label.Person), err)
	}
}
