package teach

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
)

// withEvents opens a session whose photos come in events of four of one class, the last of
// which was found first.
func (w world) withEvents(t *testing.T) *Session {
	t.Helper()
	clock := time.Unix(0, 0)
	dir := t.TempDir()
	s := must.Get(Open(Options{Model: filepath.Join(dir, "m.model"), Fresh: fresh(t, "plda"), Dim: dim, Temp: dir,
		ToolVersion: "test", Gap: time.Minute,
		Now: func() time.Time { clock = clock.Add(time.Second); return clock }}))(t)
	t.Cleanup(func() { s.Close() })
	must.Do(t, s.Add(w.photos, w.vectors))
	shots, nth := map[ID]photometa.Shot{}, map[string]int{}
	for _, p := range w.photos {
		class := w.truth[p.ID]
		k := nth[class]
		nth[class]++
		shots[p.ID] = photometa.Shot{Serial: class,
			Time: time.Date(2025, 6, 14, 20-k/4, 0, 40-10*(k%4), 0, time.UTC)}
	}
	s.Saw(shots)
	return s
}

// TestEventsAreTiles: a view has an item for each event, decided at once and taken back at
// once; a photo of it may be decided by itself.
func TestEventsAreTiles(t *testing.T) {
	w := newWorld(3, 20)
	s := w.withEvents(t)
	w.name(t, s, upTo(0, 12)...) // the first event of each class
	s.Wait()
	q := Query{View: Check, Events: true, Limit: 5}
	tiles, _ := s.pages(t, q)
	if len(tiles) != 12 {
		t.Fatalf("%d tiles of 48 open photos", len(tiles))
	}
	for _, it := range tiles {
		e := it.Event
		if e == nil || e.Size != 4 || e.Photos != 4 || e.Open != 4 || it.Label != "" {
			t.Fatalf("%s: %+v", it.Path, e)
		}
		if !slices.Equal(e.Classes, []string{w.truth[it.ID]}) || it.Top[0].Label != e.Classes[0] {
			t.Errorf("%s is of %v, and %+v", it.Path, e.Classes, it.Top[0])
		}
		one, _ := s.Get(e.Best)
		if w.truth[e.Best] != e.Classes[0] || one.Top[0].Label != e.Classes[0] {
			t.Errorf("%s is shown best by %+v", e.Classes, one.Top)
		}
		if it.Shot.Time.Second() != 10 || e.Last.Shot.Time.Second() != 40 {
			t.Errorf("it is from %v to %v", it.Shot.Time, e.Last.Shot.Time)
		}
	}
	first := tiles[0]
	photos, _ := s.pages(t, Query{View: All, Event: first.Event.Best, Limit: 3})
	if len(photos) != 4 || photos[0].ID != first.ID || photos[0].Event != nil ||
		!slices.IsSortedFunc(photos, func(a, b Item) int { return a.Shot.Time.Compare(b.Shot.Time) }) {
		t.Errorf("in the event are %v", names(photos))
	}
	var ids []ID
	for _, p := range photos {
		ids = append(ids, p.ID)
	}
	line := do(t, s, Decision{Do: Label, Images: ids, Class: first.Top[0].Label})
	if after, _ := s.pages(t, q); len(after) != 11 {
		t.Errorf("%d tiles after one event was decided", len(after))
	}
	if undo, err := s.Undo(); err != nil || undo.Of != line.Seq || len(line.Images) != 4 {
		t.Errorf("undo: %v, of line %d, and one with %d photos was made", err, undo.Of, len(line.Images))
	}
	do(t, s, Decision{Do: Label, Images: ids[1:2], Class: "owl"})
	do(t, s, Decision{Do: Ignore, Images: ids[2:3]})
	s.Wait()
	at := s.index[first.ID]
	if it := s.folded(at); it.Event.Open != 2 || it.Label != "" || it.Event.Classes[0] != "owl" {
		t.Errorf("an event of which a photo was decided: %+v %+v", it.Label, it.Event)
	}
	do(t, s, Decision{Do: Ignore, Images: ids})
	if it := s.folded(at); it.By != label.Ignored || it.Event.Open != 0 || it.Unknown {
		t.Errorf("an event that is not usable: %+v", it)
	}
}

// TestEventsOfBoxes: the boxes of the photos of an event, without the detector's persons; an
// event of one box is that box.
func TestEventsOfBoxes(t *testing.T) {
	w := newWorld(2, 8)
	for i := range w.photos {
		b := dataset.Box{Number: i/2%2 + 1, W: 1, H: 1, Category: "animal", Kept: i == 4 || i == 6 || i >= 10}
		w.photos[i].Box, w.photos[i].Path = &b, fmt.Sprintf("%d-%d.jpg#%d", i%2, i/4, b.Number)
	}
	s := w.withEvents(t)
	shots := map[ID]photometa.Shot{}
	for i, p := range w.photos { // boxes of a photo have one time
		shots[p.ID] = photometa.Shot{Serial: fmt.Sprint(i % 2), Time: time.Date(2025, 6, 14, i/8, 0, i/4, 0, time.UTC)}
	}
	s.Saw(shots)
	tiles, _ := s.pages(t, Query{View: All, Events: true, Limit: 50})
	got := map[string]string{}
	for _, it := range tiles {
		if got[it.Path] = string(it.By); it.Event != nil {
			got[it.Path] = fmt.Sprintf("%d boxes on %d photos", it.Event.Size, it.Event.Photos)
		}
	}
	// Camera 0: boxes 1 and 2 of photo 0, the detector's 1 and 2 of photo 1, then box 1 of
	// photo 2 with three of the detector's; camera 1: two of each of two photos, then one.
	want := map[string]string{"0-0.jpg#1": "2 boxes on 1 photos", "0-1.jpg#1": "detector", "0-1.jpg#2": "detector",
		"0-2.jpg#1": "", "0-2.jpg#2": "detector", "0-3.jpg#1": "detector", "0-3.jpg#2": "detector",
		"1-0.jpg#1": "4 boxes on 2 photos", "1-2.jpg#1": "", "1-2.jpg#2": "detector", "1-3.jpg#1": "detector",
		"1-3.jpg#2": "detector"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the tiles are\n%v, want\n%v", got, want)
	}
}

// TestEventsFollowPhotos: photos that come, go, or say when they were taken change events.
func TestEventsFollowPhotos(t *testing.T) {
	w := newWorld(1, 8)
	s := w.withEvents(t)
	tiles := func() string {
		out := ""
		items, _ := s.pages(t, Query{View: All, Events: true, Limit: 50})
		for _, it := range items {
			if it.Event == nil {
				out += "1 "
			} else {
				out += fmt.Sprint(it.Event.Size, " ")
			}
		}
		return out
	}
	if got := tiles(); got != "4 4 " {
		t.Errorf("at first %s", got)
	}
	s.Remove([]string{w.photos[0].Path, w.photos[1].Path})
	if got := tiles(); got != "2 4 " {
		t.Errorf("without two photos %s", got)
	}
	must.Do(t, s.Add(w.photos[:1], w.vectors[:1]))
	if got := tiles(); got != "1 2 4 " { // nobody has looked into it
		t.Errorf("with one of them again %s", got)
	}
	s.Saw(map[ID]photometa.Shot{w.photos[0].ID: *w.mustShot(t, s, 2)})
	if got := tiles(); got != "3 4 " {
		t.Errorf("when it has told its time %s", got)
	}
}

func (w world) mustShot(t *testing.T, s *Session, i int) *photometa.Shot {
	t.Helper()
	p, ok := s.PhotoOf(w.photos[i].ID)
	if !ok || p.Shot == nil {
		t.Fatalf("photo %d says nothing", i)
	}
	return p.Shot
}

// TestEventsWhilePhotosCome: who lists events while others are found gets all of them in the end.
func TestEventsWhilePhotosCome(t *testing.T) {
	w := newWorld(3, 20)
	s := w.withEvents(t)
	shots := map[ID]photometa.Shot{}
	for _, p := range w.photos {
		it, _ := s.Get(p.ID)
		shots[p.ID] = *it.Shot
	}
	var listing sync.WaitGroup
	for range 2 {
		listing.Go(func() {
			for range 100 {
				if _, err := s.List(Query{View: All, Events: true, Limit: 100}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, p := range w.photos {
		shot := shots[p.ID]
		shot.Serial = "one camera"
		s.Saw(map[ID]photometa.Shot{p.ID: shot})
	}
	listing.Wait()
	page, err := s.List(Query{View: All, Events: true, Limit: 100})
	if err != nil || page.Total != 5 {
		t.Errorf("%d events, %v", page.Total, err)
	}
	for _, it := range page.Items {
		if it.Event == nil || it.Event.Size != 12 {
			t.Errorf("%s: %+v", it.Path, it.Event)
		}
	}
}
