package teach

import "testing"

// Photos whose embeddings cannot be kept, as on a full disk, are not there: they would be
// read as zeros once a later photo is written.
func TestAddWithoutRoom(t *testing.T) {
	w := newWorld(2, 4)
	a, err := newAlbum(t.TempDir(), dim)
	if err != nil {
		t.Fatal(err)
	}
	defer a.x.Close()
	full, err := newRows(t.TempDir(), dim)
	if err != nil {
		t.Fatal(err)
	}
	full.Close() // it takes no rows
	good := a.x
	a.x = full
	if a.add(w.photos[:2], w.vectors[:2]) == nil {
		t.Fatal("no error")
	}
	a.x = good
	if err := a.add(w.photos[:4], w.vectors[:4]); err != nil {
		t.Fatal(err)
	}
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
