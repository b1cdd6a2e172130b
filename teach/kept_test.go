package teach

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// keptLines are a line of each kind.
func keptLines() []Line {
	lines := []Line{
		{Decision: Decision{Do: Start}, Model: "0f"},
		{Decision: Decision{Do: Label, Images: []ID{{1}, {2}}, Class: "kiwi"}},
		{Decision: Decision{Do: Label, Images: []ID{{3}}, Class: "lime"}, Was: "kiwi", P: 0.75},
		{Decision: Decision{Do: Unlabel, Images: []ID{{3}}}},
		called(Rename, "lime", "limes"),
		called(Merge, "limes", "kiwi"),
		{Decision: Decision{Do: Accept, Images: []ID{{4}, {5}}}, Classes: []string{"kiwi", "plum"}},
		{Decision: Decision{Do: Learn, Images: []ID{{6}}, Class: "plum"}},
		about(Undo, 8),
		about(Redo, 8),
		about(Refit, 0),
		about(Save, 0),
		{Decision: Decision{Do: Saved, Of: 12}, Model: "1f"},
		{Decision: Decision{Do: Ignore, Images: []ID{{7}}}},
		{Decision: Decision{Do: Skip, Images: []ID{{8}}}},
		{Decision: Decision{Do: Several, Images: []ID{{9}}}, Classes: []string{"kiwi", "plum"}},
		{Decision: Decision{Do: SpotCheck, Images: []ID{{10}}}, Classes: []string{"kiwi"}, P: 0.5},
		{Decision: Decision{Do: Import, Images: []ID{{11}, {12}}}, Classes: []string{"plum", ""},
			Shows: map[ID][]string{{12}: {"kiwi", "plum"}}},
		about(Back, 14),
	}
	for i := range lines {
		lines[i].Seq, lines[i].Time = i+1, time.Unix(int64(i), 0).UTC()
	}
	return lines
}

// TestKeptFiles: journals of every earlier version are read, and continued.
func TestKeptFiles(t *testing.T) {
	testenv.Kept(t, func(dir string) {
		file := filepath.Join(dir, "journal")
		defer os.Remove(file + ".lock")
		j := openedJournal(t, file)
		for _, l := range keptLines() {
			if len(l.Images) > 0 && l.Do != Unlabel {
				for i, id := range l.Images {
					l.embed(id, []float32{float32(l.Seq), float32(i)})
				}
			}
			must.Get(j.append(l))(t)
		}
		must.Do(t, j.Close())
	}, func(version, dir string) {
		j := openedJournal(t, filepath.Join(dir, "journal"))
		want := keptLines()
		for i, l := range j.lines {
			l.Time = l.Time.UTC()
			if i >= len(want) || !reflect.DeepEqual(l, want[i]) {
				t.Errorf("%s: line %d is %+v", version, i+1, l)
			}
		}
		if len(j.lines) != len(want) || j.Dropped != "" || !reflect.DeepEqual(j.embedding(ID{5}), []float32{7, 1}) {
			t.Errorf("%s: %d lines, %v, %s", version, len(j.lines), j.embedding(ID{5}), j.Dropped)
		}
		if _, err := j.append(Line{Decision: Decision{Do: Unlabel, Images: []ID{{1}}}}); err != nil {
			t.Error(err)
		}
	})
}
