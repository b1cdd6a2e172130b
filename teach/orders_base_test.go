package teach

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// known is what a driver's base model has learned, and the other project that it merges.
type known struct {
	method  string
	base    []string        // classes
	learned map[ID][]string // photos, as what
	few     int             // photos at the beginning, of every origin, that are decided
	keeps   bool            // the base model keeps its embeddings
	other   *Session
	passing bool             // a list has had a class of that name
	checked []model.SampleID // of the last model that could be saved
}

// standIn is a photo that stands in a truth for all photos of a class of the base model that were not
// decided: it has their present class.
func standIn(class string) ID { return ID{0: class[0], 31: 99} }

// begin trains the model of the kind that a seed stands for: none, one that keeps its embeddings, or one
// that has forgotten and does not. Some of its photos are boxes, copies, or learned as two classes.
func (d *driver) begin(seed int) {
	d.method, d.keeps = []string{"ncm", "plda"}[seed/3%2], seed%3 == 1
	if seed%3 == 0 {
		d.world = newWorld(3, 4)
		d.few = len(d.photos)
		return
	}
	d.world, d.base = newWorld(3, 8), []string{"a", "b", "c"}
	d.few = len(d.photos) - 6 // the others are learned and never decided
	for i := 6; i < len(d.photos); i++ {
		d.photos[i].Class = d.base[i%3]
	}
	d.photos[7].Path, d.photos[7].Box = "cam0/box.jpg#1", &dataset.Box{Number: 1, W: 0.5, H: 0.5}
	for _, copied := range []struct {
		row   int
		class string
	}{{8, "a"}, {9, ""}} { // photo 8 is of c, too
		again := d.photos[copied.row]
		again.Path, again.Class = "copies/"+nameOf(again.Path), copied.class
		d.photos, d.vectors = append(d.photos, again), append(d.vectors, d.vectors[copied.row])
	}
	d.learned = d.train(d.dir)
	for _, class := range d.base {
		d.now[standIn(class)] = class
	}
}

// train trains a model in a folder on the photos that have a class, which it returns. One that is not
// to keep its embeddings learns another photo and forgets that, with traces.
func (d *driver) train(dir string) map[ID][]string {
	w, learned := d.world, map[ID][]string{}
	if !d.keeps {
		w.photos = append(slices.Clip(w.photos), Photo{ID: ID{31: 98}, Path: "forgotten.jpg", Class: "a"})
		w.vectors = append(slices.Clip(w.vectors), w.vectors[0])
	}
	rows := slices.DeleteFunc(upTo(0, len(w.photos)), func(i int) bool { return w.photos[i].Class == "" })
	w.trainMethodAt(d.T, dir, d.method, rows...)
	for i, p := range d.photos {
		if p.Class != "" {
			learned[p.ID] = append(learned[p.ID], p.Class)
		}
		d.photos[i].Class = "" // what they are is in the model
	}
	if d.keeps {
		return learned
	}
	file := filepath.Join(dir, "m.model")
	m, err := model.Load(file)
	if err == nil {
		_, err = m.ForgetSamples(d.Context(), w.batch("a", len(w.photos)-1), model.Forgetting{Approximate: true})
	}
	if err == nil {
		m.DropPrevious = true
		err = m.Save(file)
	}
	if err != nil {
		d.Fatal(err)
	}
	return learned
}

// open opens the session, which can be saved before it has found any photo.
func (d *driver) open() {
	all := d.photos
	d.photos = nil
	d.s = d.openAt(d.T, d.dir, d.method)
	d.photos, d.checked = all, nil
	if len(d.base) > 0 && d.s.base.complete != d.keeps {
		d.Fatalf("the base model keeps its embeddings: %v", d.s.base.complete)
	}
	d.saveable()
	must.Do(d, d.s.Add(d.photos, d.vectors))
}

// saveable checks that there is a model of what was decided, and that it can be written.
func (d *driver) saveable() {
	d.s.fitting.Lock()
	defer d.s.fitting.Unlock()
	d.s.mu.RLock()
	st := fold(d.s.state.lines, d.s.base.origin)
	err := d.s.checkLacking(st)
	d.s.mu.RUnlock()
	want := st.examples()
	if !enough(want) || err == nil && slices.Equal(want, d.checked) {
		return
	}
	d.checked = want
	var m *model.Model
	if err == nil {
		m, err = d.s.base.fit(d.Context(), st, want, d.s.lockedRow)
	}
	if err == nil {
		m.DropPrevious = true
		err = m.Save(filepath.Join(d.dir, "check"))
	}
	if err != nil {
		d.Errorf("it cannot be saved: %v", err)
		return
	}
	if !maps.Equal(setOf(samplesOf(m)), setOf(want)) || m.SampleCount() != len(want) {
		d.Errorf("a model has learned %d samples, want %d", m.SampleCount(), len(want))
	}
}

// said returns what a mark says, as in decisions.
func (m mark) said() string {
	switch m.by {
	case label.Ignored:
		return "to ignore"
	case label.Skipped:
		return "to skip"
	case label.Mixed:
		return "to several"
	}
	return m.class()
}

// learnedAs returns the class of a photo that was not decided.
func (d *driver) learnedAs(id ID) (string, bool) {
	var all []string
	for _, class := range d.learned[id] {
		all = append(all, d.now[standIn(class)])
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) != 1 {
		return "", false
	}
	return all[0], true
}

// forget forgets what a base model that keeps its embeddings had learned.
func (k *known) forget(ids []ID) {
	for _, id := range ids {
		if k.keeps {
			delete(k.learned, id)
		}
	}
}

// takesOver imports or merges what others say of photos, and then they are that, whatever was decided
// before. What others call a class that has another name may be that.
func (d *driver) takesOver(what string, says decisions, do func(Preference) error) {
	d.s.mu.RLock()
	before, current := d.s.state.done, d.s.state.current()
	d.s.mu.RUnlock()
	err := do("")
	if errors.As(err, new(*ConflictsError)) {
		err = do(Lists)
	}
	d.note(what, err)
	if err != nil {
		if !refused(err, Conflict) {
			d.Errorf("%s: %v", what, err)
		}
		return
	}
	d.s.mu.RLock()
	defer d.s.mu.RUnlock()
	marked := decisions{}
	for id, want := range says {
		m, ok := d.s.state.marks[id]
		got := m.said()
		if !ok {
			got, _ = d.s.state.label(id, "")
		} else {
			marked[id] = got
		}
		renamed := slices.Contains(current, got) && !slices.Contains(current, want) && want != "x" && want != "y"
		if got != want && (!renamed || want == "passing" && !d.passing) {
			d.Errorf("%s: photo %.8s is %q, want %q", what, id, got, want)
		}
		d.passing = d.passing || want == "passing"
	}
	if d.s.state.done != before {
		d.decide(func(now decisions) { maps.Copy(now, marked) })
	}
}

// renamesBack gives a class a name that others use, and takes it back.
func (d *driver) renamesBack() {
	class := d.class()
	d.decided(Decision{Do: Rename, Class: class, To: "passing"})
	d.decided(Decision{Do: Rename, Class: "passing", To: class})
}

// merges merges another project, whose model has learned photos too, after more was decided there.
func (d *driver) merges() {
	if d.other == nil {
		dir := d.TempDir()
		for i := range d.photos[:d.few] {
			d.photos[i].Class = []string{"a", "b", "x"}[i%3]
		}
		d.train(dir)
		clock := time.Unix(0, 0)
		d.other = d.openAt(d.T, dir, d.method)
		d.other.options.Now = func() time.Time { clock = clock.Add(time.Second); return clock }
	}
	for range 1 + d.rng.IntN(3) {
		decision := Decision{Do: []Do{Label, Ignore, Several, Skip}[d.rng.IntN(4)], Images: d.some()}
		switch decision.Do {
		case Label:
			decision.Class = []string{"x", "y", "a"}[d.rng.IntN(3)]
		case Several:
			decision.Labels = []string{"x", "y"}
		}
		if _, err := d.other.Do(decision); err != nil {
			d.Errorf("in the other project: %v", err)
		}
	}
	d.other.mu.RLock()
	says := decisions{}
	for id, m := range d.other.state.marks {
		if m.by != label.Skipped {
			says[id] = m.said()
		}
	}
	d.other.mu.RUnlock()
	d.takesOver(fmt.Sprintf("merge of %d decisions", len(says)), says, func(prefer Preference) error {
		o, err := d.s.Merge(d.other.options.Model, prefer)
		if err == nil && len(o.LeftOut) > 1 { // those for later
			d.Errorf("left out: %v", o.LeftOut)
		}
		return err
	})
}
