package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRankFirst: without a model, one photo of each class is chosen, whether
// from photos or from features; with labels filled in, the file trains a model.
func TestRankFirst(t *testing.T) {
	l := newTestbed(t)
	images := l.photos(l.path("base"), smallSide, 6, "kiwi", "lime", "plum")
	copied := filepath.Join(images, "kiwi", "copy.jpg")
	l.write(copied, l.read(images, "kiwi", "000.jpg"))
	out := l.path("first.csv")
	if said := l.must("rank", "--first", "3", "--images", images, "--out", out).stdout; !strings.Contains(said, "chose 3 of 19") {
		t.Errorf("said %s", said)
	}
	rows := l.table(out)
	if got := strings.Join(rows[0], ","); got != "path,label,probability,given,score,novel,group,duplicate_of" {
		t.Errorf("header %s", got)
	}
	labelled := "path,label\n"
	for i, given := range column(t, rows, "given") {
		row := rows[i+1]
		if row[1] != "" || row[2] != "" || row[4] == "0" || !strings.HasPrefix(row[0], given+"/") {
			t.Errorf("row %q", row)
		}
		labelled += row[0] + "," + given + "\n"
	}
	l.write(l.path("labelled.csv"), []byte(labelled))
	l.must("train", "--images", images, "--list", l.path("labelled.csv"), "--out", l.path("m"))
	if shown := l.must("inspect", l.path("m")).stdout; !strings.Contains(shown, "3 classes from 3 samples") {
		t.Errorf("the model: %s", shown)
	}
	want := l.read(out)
	l.must("embed", "--images", images, "--out", l.path("features"))
	l.must("rank", "--first", "3", "--features", l.path("features"), "--out", l.path("again.csv"))
	if rows := l.table(l.path("again.csv")); len(rows) != 4 {
		t.Errorf("from features: %q", rows)
	}
	l.must("rank", "--first", "3", "--images", images, "--out", out)
	l.same("the second run", want, out)
	if said := l.must("rank", "--first", "30", "--images", images, "--out", out).stdout; !strings.Contains(said, "are near-duplicates") {
		t.Errorf("with more than there are: %s", said)
	}
	l.write(filepath.Join(images, "bad.jpg"), []byte("no JPEG"))
	l.refused(exitPartial, []string{"first.csv.errors.csv"}, "rank", "--first", "3", "--images", images, "--out", out)
	if err := os.Remove(filepath.Join(images, "bad.jpg")); err != nil {
		t.Fatal(err)
	}
	single := l.photos(l.path("single"), smallSide, 1, "kiwi")
	l.must("rank", "--first", "1", "--images", single, "--out", out)
	if rows := l.table(out); len(rows) != 2 || rows[1][4] != "1" {
		t.Errorf("of one photo: %q", rows)
	}
}
