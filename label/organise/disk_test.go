package organise

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
)

// A standIn behaves as a disk that cannot tell capitals, and cannot have some names.
type standIn struct {
	longest int
	taken   map[string]bool
}

func (d *standIn) spell(file string, put func(string) error) (string, error) {
	return Spell(file, func(to string) error {
		name, folded := filepath.Base(to), strings.ToLower(to)
		switch {
		case len(name) > d.longest:
			return &fs.PathError{Op: "open", Path: to, Err: syscall.ENAMETOOLONG}
		case !utf8.ValidString(name):
			return &fs.PathError{Op: "open", Path: to, Err: syscall.EILSEQ}
		case strings.ContainsAny(name, `:?*"<>|\`), strings.TrimRight(name, ". ") != name, isDevice(name):
			return &fs.PathError{Op: "open", Path: to, Err: syscall.EINVAL}
		case d.taken[folded]:
			return &fs.PathError{Op: "open", Path: to, Err: syscall.EEXIST}
		}
		err := put(to)
		d.taken[folded] = err == nil
		return err
	})
}

var oddNames = []string{"a:b.jpg", `a"b.jpg`, "A/x.jpg", "a/x.jpg", "a/X.jpg", "dot./p.jpg", "dot/p.jpg", "sp /p.jpg",
	"CON/p.jpg", "nul.jpg", "Fox.jpg", "fox.jpg", "FOX.jpg", "fOx.jpg", "é.jpg", "É.jpg", "bad\xe9.jpg", "100%.jpg",
	"a%20b.jpg", strings.Repeat("x", 251) + ".jpg", strings.Repeat("x", 250) + "y.jpg",
	strings.Repeat("é:", 80) + ".jpg", "what?", "what*"}

// TestOtherDisks: every photo is in the tree under a name that the disk can have, and a later run knows each again.
func TestOtherDisks(t *testing.T) {
	for what, longest := range map[string]int{"NTFS": 255, "encrypted": 143} {
		t.Run(what, func(t *testing.T) {
			root, dir := t.TempDir(), filepath.Join(t.TempDir(), "by-class")
			for _, name := range oddNames {
				write(t, filepath.Join(root, filepath.FromSlash(name)), name)
			}
			for _, class := range []string{"cat", "dog"} { // the second run moves them all
				tree := must.Get(NewTree(Copies, root, dir))(t)
				defer tree.Abort()
				tree.spell = (&standIn{longest: longest, taken: map[string]bool{}}).spell
				for _, name := range oddNames {
					must.Do(t, tree.Put(labelled(name, class, false)))
				}
				must.Do(t, tree.Commit(embedding.Outcome{}))
				write(t, filepath.Join(filepath.Dir(dir), "summary.json"), "{}")
				found, places := map[string]bool{}, contents(t, dir)
				for place, text := range places {
					found[text] = strings.HasPrefix(place, class+"/")
					if image, ok := imageAt(root)(place); !ok || image != text {
						t.Errorf("%s is taken for %s, not for %s", place, image, text)
					}
				}
				if len(places) != len(oddNames) {
					t.Errorf("there are %d files, want %d", len(places), len(oddNames))
				}
				for _, name := range oddNames {
					if !found[name] {
						t.Errorf("%s is not there", name)
					}
				}
			}
		})
	}
}

// TestClassesThatDifferInCapitals have folders of their own.
func TestClassesThatDifferInCapitals(t *testing.T) {
	root, dir := t.TempDir(), filepath.Join(t.TempDir(), "by-class")
	tree := must.Get(NewTree(Links, root, dir))(t)
	defer tree.Abort()
	tree.spell = (&standIn{longest: 255, taken: map[string]bool{}}).spell
	for _, class := range []string{"Fox", "fox", "a:b", "A:b"} {
		write(t, filepath.Join(root, class+".jpg"), class)
		must.Do(t, tree.Put(labelled(class+".jpg", class, false)))
	}
	must.Do(t, tree.Commit(embedding.Outcome{}))
	wantTree(t, dir, map[string]string{"Fox/Fox.jpg": "Fox", "%66ox/fox.jpg": "fox", "a%3Ab/a%3Ab.jpg": "a:b",
		"%41%3Ab/A%3Ab.jpg": "A:b"})
}

// TestWhatADiskRefusesIsARow, whatever the name; a full disk is the end.
func TestWhatADiskRefusesIsARow(t *testing.T) {
	var item *label.ItemError
	for reason, row := range map[error]bool{syscall.EFBIG: true, syscall.EINVAL: true, syscall.ENOSPC: false} {
		tries := 0
		_, err := Spell("dir/a.jpg", func(string) error {
			tries++
			return &fs.PathError{Op: "write", Path: "a.jpg", Err: reason}
		})
		if !errors.Is(err, reason) || errors.As(err, &item) != row || tries > 3 {
			t.Errorf("%v: %v after %d tries", reason, err, tries)
		}
	}
}

// TestTimesOfOtherDisks: a copy is known again where times are rounded, and is not made again.
func TestTimesOfOtherDisks(t *testing.T) {
	at := time.Unix(1700000001, 123456789)
	for what, copied := range map[string]time.Time{
		"NTFS": time.Unix(1700000001, 123456700), "exFAT": time.Unix(1700000001, 120000000),
		"HFS+": time.Unix(1700000001, 0), "FAT": time.Unix(1700000000, 0), "FAT, rounded up": time.Unix(1700000002, 0),
	} {
		root, dir := t.TempDir(), filepath.Join(t.TempDir(), "by-class")
		photo, place := filepath.Join(root, "a.jpg"), filepath.Join(dir, "cat", "a.jpg")
		write(t, photo, "a")
		must.Do(t, os.Chtimes(photo, at, at))
		build(t, Copies, root, dir, labelled("a.jpg", "cat", false))
		must.Do(t, os.Chtimes(place, copied, copied))
		before := must.Get(os.Stat(place))(t)
		build(t, Copies, root, dir, labelled("a.jpg", "cat", false))
		wantTree(t, dir, map[string]string{"cat/a.jpg": "a"})
		if after := must.Get(os.Stat(place))(t); !os.SameFile(before, after) {
			t.Errorf("%s: the copy was made again", what)
		}
	}
	for _, other := range []time.Time{at.Add(time.Millisecond), at.Add(3 * time.Second), at.Add(-time.Second)} {
		if sameTime(other, at) {
			t.Errorf("%v is taken for %v", other, at)
		}
	}
}
