package labels

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestRankFirst: without a model, one photo of each class is chosen, whether
// from photos or from features; with labels filled in, the file trains a model.
func TestRankFirst(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("base"), commandtest.SmallSide, 6, "kiwi", "lime", "plum")
	copied := filepath.Join(images, "kiwi", "copy.jpg")
	l.Write(copied, l.Read(images, "kiwi", "000.jpg"))
	out := l.Path("first.csv")
	if said := l.Must("rank", "--first", "3", "--images", images, "--out", out).Stdout; !strings.Contains(said,
		"chose 3 of 19") {
		t.Errorf("said %s", said)
	}
	rows := l.Table(out)
	if got := strings.Join(rows[0], ","); got != "path,label,probability,given,score,novel,group,duplicate_of" {
		t.Errorf("header %s", got)
	}
	labelled := "path,label\n"
	for i, given := range commandtest.Column(t, rows, "given") {
		row := rows[i+1]
		if row[1] != "" || row[2] != "" || row[4] == "0" || !strings.HasPrefix(row[0], given+"/") {
			t.Errorf("row %q", row)
		}
		labelled += row[0] + "," + given + "\n"
	}
	l.Write(l.Path("labelled.csv"), []byte(labelled))
	l.Must("train", "--images", images, "--list", l.Path("labelled.csv"), "--out", l.Path("m"))
	if shown := l.Must("inspect", l.Path("m")).Stdout; !strings.Contains(shown, "3 classes from 3 samples") {
		t.Errorf("the model: %s", shown)
	}
	want := l.Read(out)
	l.Must("embed", "--images", images, "--out", l.Path("features"))
	l.Must("rank", "--first", "3", "--features", l.Path("features"), "--out", l.Path("again.csv"))
	if rows := l.Table(l.Path("again.csv")); len(rows) != 4 {
		t.Errorf("from features: %q", rows)
	}
	l.Must("rank", "--first", "3", "--images", images, "--out", out)
	l.Same("the second run", want, out)
	if said := l.Must("rank", "--first", "30", "--images", images, "--out", out).Stdout; !strings.Contains(said,
		"are near-duplicates") {
		t.Errorf("with more than there are: %s", said)
	}
	l.Write(filepath.Join(images, "bad.jpg"), []byte("no JPEG"))
	l.Refused(command.ExitPartial, []string{"first.csv.errors.csv"}, "rank", "--first", "3", "--images", images,
		"--out", out)
	must.Do(t, os.Remove(filepath.Join(images, "bad.jpg")))
	single := l.Photos(l.Path("single"), commandtest.SmallSide, 1, "kiwi")
	l.Must("rank", "--first", "1", "--images", single, "--out", out)
	if rows := l.Table(out); len(rows) != 2 || rows[1][4] != "1" {
		t.Errorf("of one photo: %q", rows)
	}
}
