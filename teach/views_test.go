package teach

import (
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// Pages of a view are all of its photos, once.
func TestPages(t *testing.T) {
	w := newWorld(3, 40)
	s := w.openAt(t, t.TempDir(), "plda")
	w.name(t, s, upTo(0, 12)...)
	s.Wait()
	for _, q := range []Query{{View: All}, {View: Check}, {View: OfClass, Class: "class 1"},
		{View: All, Folder: "cam1"}, {View: All, Text: "0001"}} {
		seen := map[ID]bool{}
		q.Limit = 7
		total := 0
		for {
			p := must.Get(s.List(q))(t)
			total = p.Total
			for _, it := range p.Items {
				if seen[it.ID] {
					t.Errorf("%+v: %s comes twice", q, it.Path)
				}
				seen[it.ID] = true
			}
			if q.After = p.Next; q.After == "" {
				break
			}
		}
		if len(seen) != total || total == 0 {
			t.Errorf("%+v: %d of %d photos", q, len(seen), total)
		}
	}
}

// Before there is any photo, every view is empty.
func TestViewsWithoutPhotos(t *testing.T) {
	s := must.Get(Open(Options{Model: t.TempDir() + "/m.model", Fresh: fresh(t, "plda"), Dim: 4, Temp: t.TempDir()}))(t)
	defer s.Close()
	for _, v := range []View{All, Check, Novel, Suspicious, Typical} {
		if p, err := s.List(Query{View: v, Limit: 10}); err != nil || p.Total != 0 || p.Items == nil {
			t.Errorf("%s: %+v, %v", v, p, err)
		}
	}
}

// Unknown photos are grouped by what they show.
func TestGroups(t *testing.T) {
	w := newWorld(6, 40)
	s := w.openAt(t, t.TempDir(), "plda")
	for i := range 160 {
		if c := i % 6; c < 4 {
			w.name(t, s, i)
		}
	}
	s.Wait()
	s.Groups(10, 3)
	s.Wait()
	groups, _ := s.Groups(10, 3)
	if len(groups) < 2 {
		t.Fatalf("%d groups", len(groups))
	}
	for _, g := range groups[:2] {
		p, err := s.List(Query{View: Novel, Group: g.ID, Limit: 500})
		if err != nil || p.Total == 0 {
			t.Fatal(p, err)
		}
		counts := map[string]int{}
		for _, it := range p.Items {
			counts[w.truth[it.ID]]++
		}
		if len(counts) != 1 {
			t.Errorf("a group mixes %v", counts)
		}
	}
	// A group stays what it was when the groups are computed again, until it is
	// forgotten; its ID never names other photos.
	old := groups[0]
	members := func() (ids []ID, err error) {
		p, err := s.List(Query{View: All, Group: old.ID, Limit: 500})
		for _, it := range p.Items {
			ids = append(ids, it.ID)
		}
		return ids, err
	}
	want, err := members()
	if err != nil || len(want) == 0 {
		t.Fatal(want, err)
	}
	for k := range keptGroupings {
		w.name(t, s, 162+k/4*6+k%4) // of known classes: the groups are of the others
		s.Groups(10, 3)
		s.Wait()
		if again, _ := s.Groups(10, 3); len(again) == 0 || again[0].ID <= old.ID {
			t.Fatalf("groups %v follow group %d", again, old.ID)
		}
		got, err := members()
		switch forgotten := k == keptGroupings-1; {
		case forgotten && !refused(err, Conflict):
			t.Errorf("a forgotten group: %d photos, %v", len(got), err)
		case !forgotten && !slices.Equal(got, want):
			t.Errorf("after %d regroupings the group has %d photos, %v; it had %d", k+1, len(got), err, len(want))
		}
	}
}

// A file that changes or vanishes changes the list.
func TestFilesChange(t *testing.T) {
	w := newWorld(2, 4)
	s := w.openAt(t, t.TempDir(), "plda")
	copied := w.photos[0]
	copied.Path = "copy.jpg"
	changed := Photo{ID: ID{99}, Path: w.photos[1].Path}
	must.Do(t, s.Add([]Photo{copied, changed}, [][]float32{w.vectors[0], w.vectors[2]}))
	if it, _ := s.Get(copied.ID); it.Copies != 1 {
		t.Errorf("%+v", it)
	}
	if _, ok := s.Get(w.photos[1].ID); ok {
		t.Error("the content that was replaced is still listed")
	}
	s.Remove([]string{w.photos[0].Path})
	if it, ok := s.Get(copied.ID); !ok || it.Path != "copy.jpg" {
		t.Errorf("%+v", it)
	}
	s.Remove([]string{"copy.jpg"})
	if p, err := s.List(Query{View: All, Limit: 100}); err != nil || p.Total != 7 {
		t.Errorf("%d photos, %v", p.Total, err)
	}
}

// Photos are selected by what was decided about them, and by the probability of their likeliest class; accepting keeps
// to what a query selects.
func TestSelectedByState(t *testing.T) {
	w := newWorld(3, 40)
	s := w.openAt(t, t.TempDir(), "plda")
	w.name(t, s, upTo(0, 12)...)
	do(t, s, Decision{Do: Ignore, Images: []ID{w.photos[20].ID}})
	do(t, s, Decision{Do: Skip, Images: []ID{w.photos[21].ID, w.photos[22].ID}})
	s.Wait()
	sum := 0
	for state, want := range map[State]int{ByPerson: 12, Unusable: 1, Later: 2, Mixed: 0, ByModel: -1, LooksNew: -1} {
		p := must.Get(s.List(Query{View: All, State: state, Limit: 500}))(t)
		if sum += p.Total; want >= 0 && p.Total != want {
			t.Errorf("%d photos are %s, want %d", p.Total, state, want)
		}
	}
	if sum != len(w.photos) {
		t.Errorf("the states have %d of %d photos", sum, len(w.photos))
	}
	low := must.Get(s.List(Query{View: All, Most: 0.99, Limit: 500}))(t)
	high := must.Get(s.List(Query{View: All, Least: 0.99, Limit: 500}))(t)
	if low.Total+high.Total < len(w.photos) || high.Total == 0 {
		t.Errorf("%d and %d photos are below and above 0.99", low.Total, high.Total)
	}
	q := Query{Folder: "cam1"}
	n := s.Acceptable(0, q).Images
	line := must.Get(s.Accept(0, q))(t)
	if len(line.Images) != n || n == 0 {
		t.Errorf("%d photos are accepted, %d were said to be", len(line.Images), n)
	}
	for _, id := range line.Images {
		if p, _ := s.PhotoOf(id); folderOf(p.Path) != "cam1" {
			t.Errorf("%s is accepted", p.Path)
		}
	}
}
