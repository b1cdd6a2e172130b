package teach

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// decisions are what is decided: the class of each photo, or how it was set aside.
type decisions map[ID]string

// A truth is what a session must know after any order of operations: every decision that
// was acknowledged, once.
type truth struct {
	now        decisions
	undo, redo []decisions
	after      map[int]decisions // by the number of lines
}

// decide makes a decision that changes what is decided.
func (r *truth) decide(change func(decisions)) {
	r.undo, r.redo = append(r.undo, r.now), nil
	r.now = maps.Clone(r.now)
	change(r.now)
}

// step goes one step back, or forth again.
func (r *truth) step(from, to *[]decisions) {
	last := len(*from) - 1
	*to = append(*to, r.now)
	r.now, *from = (*from)[last], (*from)[:last]
}

// forget removes photos from all that was ever decided.
func (r *truth) forget(ids []ID) {
	all := slices.Concat([]decisions{r.now}, r.undo, r.redo, slices.Collect(maps.Values(r.after)))
	for _, d := range all {
		for _, id := range ids {
			delete(d, id)
		}
	}
}

// A driver does operations on a session, and the same on a truth.
type driver struct {
	world
	*testing.T
	rng *rand.Rand
	dir string
	s   *Session
	truth
	known
	log []string
}

// Acknowledged decisions are there once, and MODEL can be saved, whatever happens in between and in what
// order: PIPELINE_ORDERS says how many orders to try.
func TestAnyOrder(t *testing.T) {
	n := 12
	if text := os.Getenv("PIPELINE_ORDERS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for seed := range n {
		if !t.Run(strconv.Itoa(seed), func(t *testing.T) { anyOrder(t, uint64(seed), 40) }) {
			return
		}
	}
}

func anyOrder(t *testing.T, seed uint64, steps int) {
	d := &driver{T: t, rng: random.Stream(seed, "orders"), dir: testenv.MemoryDir(t),
		truth: truth{now: decisions{}, after: map[int]decisions{}}}
	d.begin(int(seed))
	write(t, filepath.Join(d.dir, "m.model.notes"), []byte("not of the program"))
	d.open()
	d.decided(Decision{Do: Label, Images: d.some(), Class: "a"})
	d.compare()
	for range steps {
		d.operate()
		d.compare()
		d.saveable()
		if t.Failed() {
			t.Fatalf("seed %d, after:\n%s", seed, strings.Join(d.log, "\n"))
		}
	}
	if got := read(t, filepath.Join(d.dir, "m.model.notes")); string(got) != "not of the program" {
		t.Errorf("a file of somebody else has %q", got)
	}
}

// operate does one operation, drawn at random.
func (d *driver) operate() {
	switch d.rng.IntN(25) {
	case 0, 1, 2:
		d.decided(Decision{Do: Label, Images: d.some(), Class: d.class()})
	case 3:
		d.decided(Decision{Do: Unlabel, Images: d.some()})
	case 4:
		do, labels := []Do{Ignore, Skip, Several}[d.rng.IntN(3)], []string(nil)
		if do == Several {
			labels = []string{"x", "y"}
		}
		d.decided(Decision{Do: do, Images: d.some(), Labels: labels})
	case 5, 6:
		do := []Do{Rename, Merge}[d.rng.IntN(2)]
		d.decided(Decision{Do: do, Class: d.class(), To: d.class()})
	case 7, 8:
		d.stepped("undo", d.s.Undo, &d.undo, &d.redo)
	case 9:
		d.stepped("redo", d.s.Redo, &d.redo, &d.undo)
	case 10:
		d.back()
	case 11:
		d.imports()
	case 12:
		d.forgets()
	case 13:
		_, err := d.s.Save(d.Context())
		d.note("save", err)
	case 14:
		d.reopen("killed in the middle of a line", `{"seq":`)
	case 15:
		d.secondServer()
	case 16:
		d.movedAway()
	case 17:
		d.fullDisk()
	case 18:
		d.replaced()
	case 19:
		d.linked()
	case 20:
		d.clockJumps()
	case 21, 22:
		d.merges()
	case 23:
		d.renamesBack()
	case 24:
		gone := d.photos[d.rng.IntN(d.few)].Path
		d.s.Remove([]string{gone})
		d.note("gone from the folder: "+gone, nil)
	}
}

// draw draws one of the files of the session that is there, "" if MODEL is not.
func (d *driver) draw() string {
	file := filepath.Join(d.dir, "m.model"+[]string{"", journalSuffix, baseSuffix}[d.rng.IntN(3)])
	if free(file) {
		return ""
	}
	return file
}

// replaced puts a file of somebody else in the place of one, decides and saves, and puts the
// right one back. What is of somebody else stays.
func (d *driver) replaced() {
	file := d.draw()
	if file == "" || os.Rename(file, file+".away") != nil {
		return
	}
	write(d.T, file, []byte("not of the program"))
	d.note("replaced: "+filepath.Base(file), nil)
	d.decided(Decision{Do: Label, Images: d.some(), Class: d.class()})
	if _, err := d.s.Save(d.Context()); err == nil {
		d.Errorf("saved beside a replaced %s", filepath.Base(file))
	}
	if got := read(d.T, file); string(got) != "not of the program" {
		d.Errorf("the file in the place of %s has %q", filepath.Base(file), got)
	}
	if err := os.Rename(file+".away", file); err != nil {
		d.Error(err)
	}
}

// linked makes a file a link to where it was moved, or gives it a second name, decides, saves
// or is killed, and undoes that.
func (d *driver) linked() {
	file := d.draw()
	if file == "" {
		return
	}
	away, symbolic := file+".away", d.rng.IntN(2) == 0
	err := os.Link(file, away)
	if symbolic {
		err = errors.Join(err, os.Remove(file), os.Symlink(away, file))
	}
	if err != nil {
		d.Fatal(err)
	}
	d.note(fmt.Sprintf("linked, symbolic %t: %s", symbolic, filepath.Base(file)), nil)
	d.decided(Decision{Do: Label, Images: d.some(), Class: d.class()})
	if d.rng.IntN(2) == 0 {
		d.reopen("killed", "")
	} else if _, err := d.s.Save(d.Context()); err != nil {
		d.note("save", err)
	}
	d.decided(Decision{Do: Label, Images: d.some(), Class: d.class()})
	d.s.Wait()
	one, err1 := os.Stat(file)
	two, err2 := os.Stat(away)
	must.Do(d, errors.Join(err1, err2))
	if os.SameFile(one, two) {
		err = os.Rename(away, file) // in place of a symbolic link; of two names both stay
	}
	if err = errors.Join(err, os.RemoveAll(away)); err != nil {
		d.Error(err)
	}
}

// clockJumps sets the clock to any year.
func (d *driver) clockJumps() {
	at := time.Date(1970+d.rng.IntN(100), 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600*d.rng.IntN(12)))
	d.s.mu.Lock()
	d.s.options.Now = func() time.Time { return at }
	d.s.mu.Unlock()
	d.note("the clock is at "+at.Format(time.RFC3339), nil)
}

func (d *driver) note(what string, err error) {
	d.log = append(d.log, fmt.Sprintf("%s: %v", what, cmp.Or(err, errors.New("done"))))
}

func (d *driver) class() string { return string(rune('a' + d.rng.IntN(4))) }

// some draws one to three photos.
func (d *driver) some() (ids []ID) {
	for _, i := range d.rng.Perm(d.few)[:1+d.rng.IntN(3)] {
		ids = append(ids, d.photos[i].ID)
	}
	return ids
}

// decided makes a decision, of which the session may say that it cannot be made.
func (d *driver) decided(of Decision) {
	_, err := d.s.Do(of)
	d.note(fmt.Sprintf("%s %d photos %s %s", of.Do, len(of.Images), of.Class, of.To), err)
	if err != nil {
		return
	}
	d.decide(func(now decisions) {
		for _, id := range of.Images {
			switch of.Do {
			case Label:
				now[id] = of.Class
			case Unlabel:
				delete(now, id)
			default:
				now[id] = "to " + string(of.Do)
			}
		}
		for id, class := range now {
			if (of.Do == Rename || of.Do == Merge) && class == of.Class {
				now[id] = of.To
			}
		}
	})
}

func (d *driver) stepped(what string, do func() (Line, error), from, to *[]decisions) {
	_, err := do()
	d.note(what, err)
	switch {
	case err == nil && len(*from) == 0:
		d.Errorf("%s of nothing", what)
	case err == nil:
		d.step(from, to)
	case len(*from) > 0:
		d.Errorf("%s: %v", what, err)
	}
}

// back goes back to a line after which everything is known.
func (d *driver) back() {
	lines := slices.Sorted(maps.Keys(d.after))
	seq := lines[d.rng.IntN(len(lines))]
	then := maps.Clone(d.after[seq])
	_, err := d.s.GoBack(seq)
	d.note(fmt.Sprintf("back to %d", seq), err)
	if err == nil {
		d.decide(func(now decisions) { clear(now); maps.Copy(now, then) })
	}
}

// imports learns a folder of two photos, or a list that sets two aside.
func (d *driver) imports() {
	class := []string{"x", "y", "a", "b", "passing", "to ignore", "to several"}[d.rng.IntN(7)]
	rows := d.rng.Perm(d.few)[:2]
	b, aside, says := d.batch(class, rows...), []Aside(nil), decisions{}
	for _, i := range rows {
		says[d.photos[i].ID] = class
	}
	learned := b
	if strings.HasPrefix(class, "to ") {
		learned = d.batch(class)
		for i, h := range b.Content {
			aside = append(aside, Aside{Content: h, Path: b.Paths[i]})
			if class == "to several" {
				aside[i].Labels = []string{"x", "y"}
			}
		}
	}
	d.takesOver("import of "+class, says, func(prefer Preference) error {
		_, err := d.s.Import(learned, aside, prefer)
		return err
	})
}

func (d *driver) forgets() {
	ids := d.some()
	_, _, err := d.s.Forget(d.Context(), ids)
	d.note(fmt.Sprintf("forget %d photos", len(ids)), err)
	if err == nil {
		d.truth.forget(ids)
		d.known.forget(ids)
	}
}

// reopen ends the session without saving, adds to the journal what was never
// acknowledged, and opens it again.
func (d *driver) reopen(why, unfinished string) {
	if err := d.s.Close(); err != nil && unfinished != "" {
		d.Errorf("close: %v", err)
	}
	journal := filepath.Join(d.dir, "m.model"+journalSuffix)
	write(d.T, journal, append(read(d.T, journal), unfinished...))
	d.open()
	d.note(why, nil)
}

func (d *driver) secondServer() {
	_, err := Open(d.s.options)
	d.note("a second server", err)
	if !errors.Is(err, ErrInUse) {
		d.Errorf("a second server: %v", err)
	}
}

// movedAway moves a file away, decides without it, and puts it back.
func (d *driver) movedAway() {
	file := filepath.Join(d.dir, "m.model"+[]string{"", journalSuffix, baseSuffix}[d.rng.IntN(3)])
	if os.Rename(file, file+".away") != nil {
		return // there is no MODEL yet
	}
	d.note("away: "+filepath.Base(file), nil)
	d.decided(Decision{Do: Label, Images: d.some(), Class: d.class()})
	if err := os.Rename(file+".away", file); err != nil {
		d.Error(err)
	}
}

// fullDisk makes a decision that cannot be written, and starts again.
func (d *driver) fullDisk() {
	d.s.Wait() // a fit has a line, too
	d.s.mu.Lock()
	j := d.s.journal
	before, good := read(d.T, j.path), j.file
	full, err := os.Open(j.path) // which takes no lines
	if err != nil {
		d.Fatal(err)
	}
	j.file = full
	d.s.mu.Unlock()
	if _, err := d.s.Do(Decision{Do: Label, Images: d.some(), Class: "a"}); err == nil {
		d.Error("a decision that was not written was acknowledged")
	}
	d.note("a full disk", nil)
	if !bytes.Equal(before, read(d.T, j.path)) {
		d.Error("the journal has changed")
	}
	_ = good.Close()
	d.reopen("started again", "")
}

// addsUp compares the account with the files of the folder. A photo that is decided, was learned or lies in the
// folder of a class is not of the model alone.
func (d *driver) addsUp() {
	a := d.s.Status().Account
	d.s.mu.RLock()
	defer d.s.mu.RUnlock()
	given := 0
	for _, p := range d.s.listed() {
		_, decided := d.now[p.ID]
		if decided || len(d.learned[p.ID]) > 0 || d.s.state.known[p.Class] {
			given++
		}
	}
	if files := len(d.s.paths); a.Photos != files || a.Decided.Total()+a.SetAside.Total() != given {
		d.Errorf("the account has %d of %d files, %d of %d decided: %+v", a.Photos, files,
			a.Decided.Total()+a.SetAside.Total(), given, a)
	}
}

// compare compares what the session knows with the truth, and what commands read.
func (d *driver) compare() {
	d.s.mu.RLock()
	marks, lines := maps.Clone(d.s.state.marks), len(d.s.state.lines)
	d.s.mu.RUnlock()
	got := decisions{}
	for id, m := range marks {
		got[id] = m.said()
	}
	for _, class := range d.base {
		got[standIn(class)] = d.s.state.name(class)
	}
	if !maps.Equal(got, d.now) {
		d.Errorf("decided is %v, want %v", got, d.now)
	}
	d.after[lines] = maps.Clone(d.now)
	d.addsUp()
	decided, err := Decided(filepath.Join(d.dir, "m.model"), d.s.Base())
	if err != nil {
		d.Error(err)
		return
	}
	for _, p := range d.photos {
		of, ok := decided(p.ID)
		want, known := d.now[p.ID]
		if !known {
			want, known = d.learnedAs(p.ID)
		}
		if strings.HasPrefix(want, "to ") {
			want = ""
		}
		if ok != known || of.Class != want {
			d.Errorf("commands read %q of %s, want %q", of.Class, p.Path, want)
		}
	}
}
