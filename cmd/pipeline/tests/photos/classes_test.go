package photos

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestClassesFromFolders: deeper folders are merged, which is said, unless
// --class-from keeps them apart. Learning another level is not silent.
func TestClassesFromFolders(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), commandtest.SmallSide, 2, "Fruit/Apple", "Fruit/Pear", "Tree/Apple",
		"Not sure")
	model := l.Path("m.model")
	for _, c := range []struct {
		rule, classes, said string
	}{
		{"", "3 classes from 8",
			`class_from=leaf or path makes these the classes, class_from=top confirms" ` +
				`merged_classes=1 first="\"Fruit\" from Fruit/Apple and Fruit/Pear"`},
		{"top", "3 classes from 8", ""},
		{"leaf", "3 classes from 8",
			`class_from=path keeps them apart" merged_classes=1 first="\"Apple\" from Fruit/Apple and Tree/Apple"`},
		{"path", "4 classes from 8", ""},
	} {
		args := []string{"train", "--images", images, "--classifier", "ncm", "--out", model}
		if c.rule != "" {
			args = append(args, "--class-from", c.rule)
		}
		said := l.Must(args...).Stderr
		if got := strings.Contains(said, "merged_classes"); got != (c.said != "") || !strings.Contains(said, c.said) {
			t.Errorf("%q: %s", c.rule, said)
		}
		if shown := l.Must("inspect", model).Stdout; !strings.Contains(shown, c.classes) {
			t.Errorf("%q: %s", c.rule, shown)
		}
	}
	if said := l.Must("eval", model, "--images", images).Stdout; !strings.Contains(said, "8 of 4 classes") {
		t.Errorf("eval reads folders as train did: %s", said)
	}
	l.Refused(command.ExitFailed, []string{"no image is of a class of the model", "their classes are photos",
		"--class-from"}, "eval", model, "--images", images, "--class-from", "root")
	if said := l.Must("learn", model, "--images", images).Stdout; strings.Contains(said, "new class") {
		t.Errorf("learn reads folders as train did: %s", said)
	}
	said := l.Must("learn", model, "--images", images, "--class-from", "top").Stderr
	if !strings.Contains(said, "nest inside others") || !strings.Contains(said, `\"Fruit\" beside \"Fruit/Apple\"`) {
		t.Errorf("top after path: %s", said)
	}
	l.Must("train", "--images", images, "--classifier", "ncm", "--class-from", "path", "--drop-label", "Not sure",
		"--drop-label", "Tree/Apple", "--out", model)
	if shown := l.Must("inspect", model).Stdout; !strings.Contains(shown, "2 classes from 4") {
		t.Error(shown)
	}
	if said := l.Must("eval", model, "--images", images, "--class-from", "path", "--drop-label",
		"Unsure"); !strings.Contains(said.Stderr, "no image has a class that is to be left out") {
		t.Error(said.Stderr)
	}
	if said := l.Must("label", model, "--images", images, "--out", l.Path("out")); strings.Contains(said.Stderr,
		"merged_classes") {
		t.Errorf("label needs no classes: %s", said.Stderr)
	}
}

// TestLearnOneFolder: the photos of one new class need no folder around their own,
// which the refusal says.
func TestLearnOneFolder(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	otter := filepath.Join(l.Photos(l.Path("new"), commandtest.SmallSide, 2, "otter"), "otter")
	l.Refused(command.ExitFailed, []string{"no labelled images", "--class-from root"}, "learn", model, "--images",
		otter)
	l.Refused(command.ExitFailed, []string{"no labelled images"}, "train", "--images", otter, "--out", l.Path("m2"))
	if said := l.Must("learn", model, "--images", otter, "--class-from", "root"); !strings.Contains(said.Stdout+
		said.Stderr, "otter") {
		t.Errorf("%s%s", said.Stdout, said.Stderr)
	}
	if shown := l.Must("inspect", model, "--json").Stdout; !strings.Contains(shown, `"otter"`) {
		t.Error(shown)
	}
}

// TestTablesAsTheyAre: a CSV with odd columns and a headerless list train the same
// model as folders, missing files are counted, and a list that does not fit is an
// error that says where its files are.
func TestTablesAsTheyAre(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), commandtest.SmallSide, 2, "a", "b")
	model := l.Path("m.model")
	l.Write(l.Path("photos", "Export.csv"),
		[]byte("Nr;Datei;Art\r\n1;a\\000;Kiwi\r\n2;a\\001;Kiwi\r\n3;b\\000;Lime\r\n4;b\\001;Not "+
			"sure\r\n5;b\\404;Lime\r\n"))
	r := l.Expect(command.ExitPartial, "train", "--list", l.Path("photos", "Export.csv"), "--label-column", "art",
		"--drop-label", "Not sure", "--classifier", "ncm", "--out", model)
	for _, word := range []string{`column \"Datei\"`, "end in .jpg", "1 of the inputs failed"} {
		if !strings.Contains(r.Stderr, word) {
			t.Errorf("no %s in %s", word, r.Stderr)
		}
	}
	if shown := l.Must("inspect", model).Stdout; !strings.Contains(shown, "2 classes from 3") {
		t.Error(shown)
	}
	l.Write(l.Path("list.txt"), []byte("a/000.jpg Kiwi\na/001.jpg Kiwi\nb/000.jpg green lime\n"))
	if r := l.Must("eval", model, "--images", images, "--list", l.Path("list.txt")); !strings.Contains(r.Stderr,
		"no header") {
		t.Error(r.Stderr)
	}
	other := l.Photos(filepath.Join(images, "other"), commandtest.SmallSide, 1, "c")
	l.Refused(command.ExitFailed, []string{"none of its 3 paths exists", "give --images " + images}, "label", model,
		"--images", other, "--list", l.Path("list.txt"), "--out", l.Path("out"))
	l.Write(l.Path("odd.csv"), []byte("path,colour,size\na/000.jpg,red,big\n"))
	l.Refused(command.ExitUsage, []string{"--label-from"}, "train", "--images", images, "--list", l.Path("odd.csv"),
		"--out", model)
	l.Must("label", model, "--images", images, "--list", l.Path("odd.csv"), "--out", l.Path("labels"))
	l.Write(l.Path("wrong.csv"), []byte("Datei;Art;Grund\na\\001;Kiwi;blurred\n"))
	l.Must("forget", model, "--images", images, "--samples", l.Path("wrong.csv"), "--path-column", "Datei",
		"--label-column", "Art", "--path-suffix", ".jpg")
}

// TestLabelFeatures: embeddings are labelled as the photos are, with or without
// labels and paths of their own. That the photos were learned is known of files alone.
func TestLabelFeatures(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	features := l.Path("features")
	l.Must("embed", "--images", images, "--out", features)
	l.Must("label", model, "--images", images, "--adapt=false", "--out", l.Path("photos"))
	l.Must("label", model, "--features", features, "--adapt=false", "--out", l.Path("rows"))
	byTheModel := bytes.ReplaceAll(l.Read(l.Path("photos"), "labels.csv"), []byte(",list\n"), []byte(",\n"))
	l.Same("labels of features", byTheModel, l.Path("rows", "labels.csv"))
	l.Must("label", model, "--features", features, "--include", "kiwi/*", "--out", l.Path("kiwi"))
	if rows := l.Table(l.Path("kiwi"), "labels.csv"); len(rows) != 9 {
		t.Errorf("%d rows of one folder", len(rows))
	}
	must.Do(t, os.Remove(l.Path("features", "samples.csv")))
	l.Must("label", model, "--features", features, "--adapt=false", "--out", l.Path("numbered"))
	rows, want := l.Table(l.Path("numbered"), "labels.csv"), l.Table(l.Path("rows"), "labels.csv")
	if len(rows) != len(want) || rows[1][0] != "0" ||
		strings.Join(rows[24][1:], ",") != strings.Join(want[24][1:], ",") {
		t.Errorf("%q, want the labels of %q", rows[1], want[1])
	}
	l.Must("rank", model, "--features", features, "--by", "margin", "--out", l.Path("rank.csv"))
	for _, args := range [][]string{{"eval", model}, {"train", "--out", l.Path("m2")},
		{"stats", "collect", "--out", l.Path("s")}} {
		l.Refused(command.ExitFailed, []string{"samples.csv"}, append(args, "--features", features)...)
	}
}
