package teach

import (
	"errors"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// A folder that cannot be synced after the journal was written again is an error, and the
// journal goes on with the file that has its name.
func TestJournalInAFolderThatDoesNotSync(t *testing.T) {
	file, _, _ := written(t)
	j := must.Get(openJournal(file))(t)
	gone := ID{}
	for _, l := range j.lines {
		if len(l.Images) > 0 {
			gone = l.Images[0]
		}
	}
	noSync := errors.New("the folder does not sync")
	j.replace = func(path string, write func(*atomicfile.File) error) error {
		return errors.Join(atomicfile.Write(path, write), noSync)
	}
	if _, err := j.Forget(map[ID]bool{gone: true}); !errors.Is(err, noSync) {
		t.Fatalf("%v", err)
	}
	if _, err := j.append(Line{Decision: Decision{Do: Label, Images: []ID{{9}}, Class: "later"}}); err != nil {
		t.Errorf("a decision after it: %v", err)
	}
	want := len(j.lines)
	must.Do(t, j.Close())
	j = must.Get(openJournal(file))(t)
	defer j.Close()
	if len(j.lines) != want || j.embedding(gone) != nil {
		t.Errorf("%d lines, want %d; embedding of what was forgotten: %v", len(j.lines), want, j.embedding(gone))
	}
}
