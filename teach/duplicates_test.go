package teach

import (
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// withCopies returns a world in which photos 0 to 2 are one moment, as 10 and 11 are, and the
// last photo is in a folder of its own.
func withCopies(t *testing.T) (world, *Session) {
	t.Helper()
	w := newWorldOf(4, 60, 64)
	near := func(i, of int) {
		w.vectors[i] = slices.Clone(w.vectors[of])
		w.vectors[i][i] += 0.02
	}
	near(1, 0)
	near(2, 0)
	near(11, 10)
	return w, w.openAt(t, t.TempDir(), "plda")
}

// duplicates returns the rows of the groups once they have been computed.
func duplicates(t *testing.T, s *Session, q Query) (groups [][]ID) {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	for range 2 { // by embeddings, then by pixels
		must.Get(s.Duplicates(q, 2))(t)
		s.Wait()
	}
	found := must.Get(s.Duplicates(q, 2))(t)
	if found.Computing || found.Total < len(found.Groups) {
		t.Fatal(found.Total, found.Computing)
	}
	for _, d := range found.Groups {
		if len(d.Items) != min(2, d.Size) {
			t.Errorf("%d photos are shown of %d", len(d.Items), d.Size)
		}
		p, err := s.List(Query{View: All, Duplicates: d.Items[0].ID, Alike: q.Alike, Limit: 100})
		if err != nil || p.Total < d.Size {
			t.Errorf("%d of %d photos are listed: %v", p.Total, d.Size, err)
		}
		var ids []ID
		for _, it := range p.Items {
			ids = append(ids, it.ID)
		}
		groups = append(groups, ids)
	}
	return groups
}

func (w world) ids(rows ...int) (out []ID) {
	for _, i := range rows {
		out = append(out, w.photos[i].ID)
	}
	return out
}

// What is nearly the same is a group until all of it is decided, set aside or gone.
func TestDuplicates(t *testing.T) {
	w, s := withCopies(t)
	expect := func(what string, q Query, want ...[]ID) {
		t.Helper()
		got := duplicates(t, s, q)
		for _, ids := range slices.Concat(got, want) {
			slices.SortFunc(ids, func(a, b ID) int { return slices.Compare(a[:], b[:]) })
		}
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	expect("at first, the larger one first", Query{}, w.ids(0, 1, 2), w.ids(10, 11))
	expect("the first group", Query{Limit: 1}, w.ids(0, 1, 2))
	expect("a name that none has", Query{Text: "nothing"})
	expect("a folder", Query{Folder: folderOf(w.photos[10].Path)},
		slices.DeleteFunc([][]ID{w.ids(0, 1, 2), w.ids(10, 11)}, func(ids []ID) bool {
			return !slices.ContainsFunc(ids, func(id ID) bool {
				it, _ := s.Get(id)
				return folderOf(it.Path) == folderOf(w.photos[10].Path)
			})
		})...)
	w.name(t, s, 0)
	expect("one is named", Query{}, w.ids(0, 1, 2), w.ids(10, 11))
	do(t, s, Decision{Do: Label, Images: w.ids(10), Class: "a"})
	do(t, s, Decision{Do: Label, Images: w.ids(11), Class: "b"})
	expect("all of a group are decided", Query{}, w.ids(0, 1, 2))
	do(t, s, Decision{Do: Ignore, Images: w.ids(1, 2)})
	expect("only one is kept", Query{})
	must.Get(s.Undo())(t)
	s.Remove([]string{w.photos[1].Path})
	expect("one is gone", Query{}, w.ids(0, 2))
}

// Labels that contradict each other come first.
func TestDuplicatesWithTwoLabels(t *testing.T) {
	w := newWorldOf(4, 60, 64)
	for _, pair := range [][2]int{{1, 0}, {2, 0}, {3, 0}, {11, 10}, {12, 10}} {
		w.vectors[pair[0]] = slices.Clone(w.vectors[pair[1]])
		w.vectors[pair[0]][pair[0]] += 0.02
	}
	s := w.openAt(t, t.TempDir(), "plda")
	do(t, s, Decision{Do: Label, Images: w.ids(10), Class: "a"})
	do(t, s, Decision{Do: Label, Images: w.ids(11), Class: "b"})
	if got := duplicates(t, s, Query{}); len(got) != 2 || !slices.Contains(got[0], w.photos[11].ID) {
		t.Errorf("%v", got)
	}
}

// A heap of photos that are all alike has no pair too many compared, and nobody waits for
// groups while the folder is being read.
func TestDuplicatesOfManyAlike(t *testing.T) {
	w := newWorld(1, mostCompared+300)
	for i := range w.vectors {
		w.vectors[i] = slices.Clone(w.vectors[0])
	}
	s := w.openAt(t, t.TempDir(), "plda")
	s.Found(PhotoCounts{Scanning: true})
	if got := duplicates(t, s, Query{}); len(got) != 0 {
		t.Errorf("%d groups while the folder is being read", len(got))
	}
	s.Found(PhotoCounts{})
	sizes := []int{}
	for _, d := range duplicates(t, s, Query{}) {
		sizes = append(sizes, len(d))
	}
	if !slices.Equal(sizes, []int{100, 100}) { // of a page each
		t.Errorf("groups of %v", sizes)
	}
	found := must.Get(s.Duplicates(Query{Limit: 9}, 1))(t).Groups
	if len(found) != 2 || found[0].Size != mostCompared || found[1].Size != 300 {
		t.Errorf("%d groups", len(found))
	}
}
