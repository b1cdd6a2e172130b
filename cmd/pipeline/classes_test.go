package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestClassesFromFolders: deeper folders are merged, which is said, unless
// --class-from keeps them apart. Learning another level is not silent.
func TestClassesFromFolders(t *testing.T) {
	l := newTestbed(t)
	images := l.photos(l.path("photos"), smallSide, 2, "Fruit/Apple", "Fruit/Pear", "Tree/Apple", "Not sure")
	model := l.path("m.model")
	for _, c := range []struct {
		rule, classes, said string
	}{
		{"", "3 classes from 8", `--class-from leaf or path makes these the classes, --class-from top confirms" merged_classes=1 first="\"Fruit\" from Fruit/Apple and Fruit/Pear"`},
		{"top", "3 classes from 8", ""},
		{"leaf", "3 classes from 8", `--class-from path keeps them apart" merged_classes=1 first="\"Apple\" from Fruit/Apple and Tree/Apple"`},
		{"path", "4 classes from 8", ""},
	} {
		args := []string{"train", "--images", images, "--classifier", "ncm", "--out", model}
		if c.rule != "" {
			args = append(args, "--class-from", c.rule)
		}
		said := l.must(args...).stderr
		if got := strings.Contains(said, "merged_classes"); got != (c.said != "") || !strings.Contains(said, c.said) {
			t.Errorf("%q: %s", c.rule, said)
		}
		if shown := l.must("inspect", model).stdout; !strings.Contains(shown, c.classes) {
			t.Errorf("%q: %s", c.rule, shown)
		}
	}
	if said := l.must("learn", model, "--images", images).stderr; !strings.Contains(said, "nest inside others") || !strings.Contains(said, `\"Fruit\" beside \"Fruit/Apple\"`) {
		t.Errorf("top after path: %s", said)
	}
	l.must("train", "--images", images, "--classifier", "ncm", "--class-from", "path", "--drop-label", "Not sure", "--drop-label", "Tree/Apple", "--out", model)
	if shown := l.must("inspect", model).stdout; !strings.Contains(shown, "2 classes from 4") {
		t.Error(shown)
	}
	if said := l.must("eval", model, "--images", images, "--class-from", "path", "--drop-label", "Unsure"); !strings.Contains(said.stderr, "no image has a class that --drop-label") {
		t.Error(said.stderr)
	}
	if said := l.must("label", model, "--images", images, "--out", l.path("out")); strings.Contains(said.stderr, "merged_classes") {
		t.Errorf("label needs no classes: %s", said.stderr)
	}
}

// TestLearnOneFolder: the photos of one new class need no folder around their own,
// which the refusal says.
func TestLearnOneFolder(t *testing.T) {
	l := newTestbed(t)
	model, _ := l.trained()
	otter := filepath.Join(l.photos(l.path("new"), smallSide, 2, "otter"), "otter")
	l.refused(exitFailed, []string{"no labelled images", "--class-from root"}, "learn", model, "--images", otter)
	l.refused(exitFailed, []string{"no labelled images"}, "train", "--images", otter, "--out", l.path("m2"))
	if said := l.must("learn", model, "--images", otter, "--class-from", "root"); !strings.Contains(said.stdout+said.stderr, "otter") {
		t.Errorf("%s%s", said.stdout, said.stderr)
	}
	if shown := l.must("inspect", model, "--json").stdout; !strings.Contains(shown, `"otter"`) {
		t.Error(shown)
	}
}

// TestTablesAsTheyAre: a CSV with odd columns and a headerless list train the same
// model as folders, missing files are counted, and a list that does not fit is an
// error that says where its files are.
func TestTablesAsTheyAre(t *testing.T) {
	l := newTestbed(t)
	images := l.photos(l.path("photos"), smallSide, 2, "a", "b")
	model := l.path("m.model")
	l.write(l.path("photos", "Export.csv"), []byte("Nr;Datei;Art\r\n1;a\\000;Kiwi\r\n2;a\\001;Kiwi\r\n3;b\\000;Lime\r\n4;b\\001;Not sure\r\n5;b\\404;Lime\r\n"))
	r := l.expect(exitPartial, "train", "--list", l.path("photos", "Export.csv"), "--label-column", "art", "--drop-label", "Not sure", "--classifier", "ncm", "--out", model)
	for _, word := range []string{`column \"Datei\"`, "end in .jpg", "1 of the inputs failed"} {
		if !strings.Contains(r.stderr, word) {
			t.Errorf("no %s in %s", word, r.stderr)
		}
	}
	if shown := l.must("inspect", model).stdout; !strings.Contains(shown, "2 classes from 3") {
		t.Error(shown)
	}
	l.write(l.path("list.txt"), []byte("a/000.jpg Kiwi\na/001.jpg Kiwi\nb/000.jpg green lime\n"))
	if r := l.must("eval", model, "--images", images, "--list", l.path("list.txt")); !strings.Contains(r.stderr, "no header") {
		t.Error(r.stderr)
	}
	l.refused(exitFailed, []string{"none of its 3 paths exists", "give --images " + images}, "label", model, "--images", filepath.Join(images, "a"), "--list", l.path("list.txt"), "--out", l.path("out"))
	l.write(l.path("odd.csv"), []byte("path,colour,size\na/000.jpg,red,big\n"))
	l.refused(exitUsage, []string{"--label-column"}, "train", "--images", images, "--list", l.path("odd.csv"), "--out", model)
	l.must("label", model, "--images", images, "--list", l.path("odd.csv"), "--out", l.path("labels"))
	l.write(l.path("wrong.csv"), []byte("Datei;Art;Grund\na\\001;Kiwi;blurred\n"))
	l.must("forget", model, "--images", images, "--samples", l.path("wrong.csv"), "--path-column", "Datei", "--label-column", "Art", "--path-suffix", ".jpg")
}

// TestLabelFeatures: embeddings are labelled as the photos are, with or without
// labels and paths of their own.
func TestLabelFeatures(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	features := l.path("features")
	l.must("embed", "--images", images, "--out", features)
	l.must("label", model, "--images", images, "--out", l.path("photos"))
	l.must("label", model, "--features", features, "--out", l.path("rows"))
	l.same("labels of features", l.read(l.path("photos"), "labels.csv"), l.path("rows", "labels.csv"))
	l.must("label", model, "--features", features, "--include", "kiwi/*", "--out", l.path("kiwi"))
	if rows := l.table(l.path("kiwi"), "labels.csv"); len(rows) != 9 {
		t.Errorf("%d rows of one folder", len(rows))
	}
	if err := os.Remove(l.path("features", "samples.csv")); err != nil {
		t.Fatal(err)
	}
	l.must("label", model, "--features", features, "--out", l.path("numbered"))
	rows, want := l.table(l.path("numbered"), "labels.csv"), l.table(l.path("photos"), "labels.csv")
	if len(rows) != len(want) || rows[1][0] != "0" || strings.Join(rows[24][1:], ",") != strings.Join(want[24][1:], ",") {
		t.Errorf("%q, want the labels of %q", rows[1], want[1])
	}
	l.must("rank", model, "--features", features, "--by", "margin", "--out", l.path("rank.csv"))
	for _, command := range [][]string{{"eval", model}, {"train", "--out", l.path("m2")}, {"stats", "collect", "--out", l.path("s")}} {
		l.refused(exitFailed, []string{"samples.csv"}, append(command, "--features", features)...)
	}
}
