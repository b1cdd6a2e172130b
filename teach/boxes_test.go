package teach

import (
	"fmt"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
)

// TestDetectorsBoxes: what a detector names is shown and counted, and is neither asked about,
// offered, learned, nor like what is open; a person may say that it is wrong.
func TestDetectorsBoxes(t *testing.T) {
	w := newWorld(3, 20)
	person := map[int]bool{13: true, 20: true, 41: true}
	for i := range w.photos {
		b := dataset.Box{Number: i%2 + 1, W: 1, H: 1, Category: "animal", Confidence: 0.8}
		if person[i] {
			b.Category, b.Kept = "person", true
		}
		w.photos[i].Box, w.photos[i].Path = &b, fmt.Sprintf("%02d.jpg#%d", i/2, b.Number)
	}
	s := w.openAt(t, t.TempDir(), "plda")
	w.name(t, s, upTo(0, 12)...)
	s.Wait()
	for _, v := range []View{Check, Novel, Suspicious, Typical} {
		items, _ := s.pages(t, Query{View: v, Limit: 100})
		for _, it := range items {
			if it.By == label.Detector {
				t.Errorf("%s asks about %s", v, it.Path)
			}
		}
	}
	if of, _ := s.pages(t, Query{View: OfClass, Class: "person", Limit: 100}); len(of) != 3 || of[0].Unknown {
		t.Errorf("%d persons", len(of))
	}
	open := false
	near, err := s.Near(t.Context(), w.photos[0].ID, &open, 100)
	if err != nil || len(near) != 60-12-3 {
		t.Errorf("%d boxes are open, %v", len(near), err)
	}
	if beside, _ := s.pages(t, Query{View: All, File: "06.jpg", Limit: 100}); len(beside) != 2 {
		t.Errorf("%d boxes in a photo of two", len(beside))
	}
	counts := map[string]ClassCount{}
	for _, c := range s.Classes() {
		counts[c.Name] = c
	}
	if c := counts["person"]; c.Detected != 3 || c.Predicted+c.Learned > 0 || s.Status().Account.Decided.Detector != 3 {
		t.Errorf("%+v", counts)
	}
	if got := s.Files()[13]; got.Label != "person" || got.By != "detector" || *got.Probability != 0.8 {
		t.Errorf("exported %+v", got)
	}
	l := must.Get(s.Accept(0, Query{}))(t)
	for _, id := range l.Images {
		if at := s.index[id]; person[at] {
			t.Errorf("%s was accepted", s.photos[at].Path)
		}
	}
	persons := []ID{w.photos[13].ID, w.photos[20].ID}
	if _, err := s.Do(Decision{Do: Label, Images: persons, Class: "person"}); !refused(err, Conflict) {
		t.Errorf("a detector's word was learned: %v", err)
	}
	do(t, s, Decision{Do: Label, Images: persons[:1], Class: "scarecrow"})
	if got := s.Files()[13]; got.Label != "scarecrow" || got.By != "person" {
		t.Errorf("a person said scarecrow, and exported is %+v", got)
	}
	if l := do(t, s, Decision{Do: Label, Images: persons, Class: "person"}); len(l.Images) != 1 {
		t.Errorf("%d boxes were labelled, of which the detector said one", len(l.Images))
	}
	do(t, s, Decision{Do: Unlabel, Images: persons[:1]})
	if it, _ := s.Get(persons[0]); it.By != label.Detector {
		t.Errorf("without its label it is %+v", it)
	}
}
