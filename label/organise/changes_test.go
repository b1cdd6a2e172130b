package organise

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
)

// TestChanges: the list has the photos that are in another folder than before, and of what copies are copies, whichever
// of them comes first; without Commit there is none.
func TestChanges(t *testing.T) {
	dir := t.TempDir()
	row := func(content byte, path, was, now string) label.Scored {
		r := labelled(path, now, false)
		r.Sample, r.Content, r.By = dataset.Sample{Path: path, Label: was}, [32]byte{content}, label.Person
		return r
	}
	copied := row(2, "ant/2.jpg", "ant", "")
	copied.CopyOf = [32]byte{3}
	aside := row(4, "bee/4.jpg", "bee", "")
	kept := map[[32]byte]bool{{3}: true}
	rows := []label.Scored{row(1, "ant/1.jpg", "ant", "ant"), copied, row(3, "bee/3.jpg", "bee", "=fox"), aside}
	for _, finished := range []bool{false, true} {
		c := must.Get(NewChanges(dir, kept))(t)
		for _, r := range rows {
			must.Do(t, c.Put(r))
		}
		if finished {
			must.Do(t, c.Commit(embedding.Outcome{}))
		}
		c.Abort()
		text, err := os.ReadFile(filepath.Join(dir, ChangesFile))
		if !finished {
			if err == nil {
				t.Error("a list that was not finished has its name")
			}
			continue
		}
		want := "path,was,now,by,copy_of\nbee/3.jpg,bee,'=fox,person,\nbee/4.jpg,bee,_set-aside,person,\n" +
			"ant/2.jpg,ant,_copies,person,bee/3.jpg\n"
		if err != nil || string(text) != want {
			t.Errorf("%v\n%s\nwant\n%s", err, text, want)
		}
	}
}
