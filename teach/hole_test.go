package teach

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// Photos whose embeddings cannot be kept, as on a full disk, are not there: they would be
// read as zeros once a later photo is written.
func TestAddWithoutRoom(t *testing.T) {
	w := newWorld(2, 4)
	a := must.Get(newAlbum(t.TempDir(), dim))(t)
	defer a.x.Close()
	full := must.Get(newRows(t.TempDir(), dim))(t)
	full.Close() // it takes no rows
	good := a.x
	a.x = full
	if a.add(w.photos[:2], w.vectors[:2]) == nil {
		t.Fatal("no error")
	}
	a.x = good
	must.Do(t, a.add(w.photos[:4], w.vectors[:4]))
	if len(a.photos) != 4 {
		t.Fatalf("%d photos", len(a.photos))
	}
	for i := range 4 {
		x, err := a.x.read(i, i+1, nil)
		if err != nil || x.Data[0] != w.vectors[i][0] {
			t.Errorf("photo %d is read as %v, %v", i, x.Data[0], err)
		}
	}
}
