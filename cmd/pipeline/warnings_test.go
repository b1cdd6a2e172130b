package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// TestClassNames: training with one class, and a class whose name is almost
// another's, are allowed but not silent.
func TestClassNames(t *testing.T) {
	l := newTestbed(t)
	file := l.path("m.model")
	one := l.must("train", "--classifier", "ncm", "--images", l.photos(l.path("one"), smallSide, 3, "Banana"), "--out", file)
	if !strings.Contains(one.stderr, "only one class") || !strings.Contains(one.stderr, "novelty") {
		t.Errorf("one class: %s", one.stderr)
	}
	l.refused(exitUsage, []string{"error: preprocess.resize: \"foo\"", "shorter"}, "train", "--images", l.path("one"), "--out", file, "--set", "preprocess.resize=foo")
	typo := l.must("learn", file, "--images", l.photos(l.path("two"), smallSide, 2, "banana", "Cherry"))
	for _, word := range []string{`\"banana\" beside \"Banana\"`, "classes=1", "rename", "forget MODEL --class"} {
		if !strings.Contains(typo.stderr, word) {
			t.Errorf("a typo: no %s in %s", word, typo.stderr)
		}
	}
	if again := l.must("learn", file, "--images", l.path("two")); strings.Contains(again.stderr, "beside") {
		t.Errorf("old classes: %s", again.stderr)
	}
	l.refused(exitFailed, []string{`did you mean "Cherry"`}, "forget", file, "--class", "Chery")
	l.refused(exitFailed, []string{`did you mean "Banana"`}, "forget", file, "--class", "Bananas")
}

func TestMisspelt(t *testing.T) {
	classes := []string{"Banana", "cat", "cut", "golden gate", "class001", "class002", "Bananna", "goldengate", "baanna", "Cat", "banana split"}
	got := misspelt(classes, classes[4:])
	want := []string{`"Bananna" beside "Banana"`, `"goldengate" beside "golden gate"`, `"baanna" beside "Bananna"`, `"Cat" beside "cat"`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestMisspeltUnicode(t *testing.T) {
	got := misspelt([]string{"caf\u00e9", "cafe\u0301", "CAFE\u0301"}, []string{"cafe\u0301", "CAFE\u0301"})
	want := []string{`"cafe\u0301" beside "caf\u00e9", the same text in another Unicode form`, "\"CAFE\u0301\" beside \"caf\u00e9\""}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNested(t *testing.T) {
	classes := []string{"Fruit", "Fruit/Apple", "Pear", "Trees/Old/Pear", "Kiwi", "Lime"}
	samples := []dataset.Sample{{Path: "Fruit/Kiwi/1.jpg", Label: "Kiwi"}, {Path: "Fruit/Kiwi/2.jpg", Label: "Kiwi"}, {Path: "Lime/1.jpg", Label: "Lime"}}
	got := nested(classes, classes[1:], samples)
	want := []string{`"Fruit/Apple" beside "Fruit"`, `"Trees/Old/Pear" beside "Pear"`, `"Pear" beside "Trees/Old/Pear"`, `"Kiwi" has images in a folder "Fruit", another class`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := nested(classes, []string{"Lime"}, samples); got != nil {
		t.Errorf("%q", got)
	}
}

// TestConflictingLabels: photos in two class folders give one warning, with
// their number.
func TestConflictingLabels(t *testing.T) {
	l := newTestbed(t)
	images := l.photos(l.path("base"), smallSide, 6, "kiwi", "lime")
	for _, name := range []string{"000", "001", "002", "003", "004"} {
		l.write(l.path("base", "lime", "copy"+name+".jpg"), l.read(l.path("base", "kiwi", name+".jpg")))
	}
	r := l.must("train", "--classifier", "ncm", "--images", images, "--out", l.path("m.model"))
	if n := strings.Count(r.stderr, "several labels"); n != 1 || !strings.Contains(r.stderr, "images=10") || strings.Count(r.stderr, "(kiwi, lime)") != shownInWarning {
		t.Errorf("%d warnings: %s", n, r.stderr)
	}
}

// TestRankByVariance: a method with a predictive variance ranks by it. The
// report of the same model counts its one session.
func TestRankByVariance(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained("--classifier", "gptree")
	l.must("rank", model, "--images", images, "--by", "variance", "--out", l.path("look.csv"))
	var variance []float64
	for _, row := range l.table(l.path("look.csv"))[1:] {
		v, err := strconv.ParseFloat(row[4], 64)
		if err != nil {
			t.Fatal(err)
		}
		variance = append(variance, -v)
	}
	if len(variance) != 24 || !slices.IsSorted(variance) || variance[0] == variance[23] {
		t.Errorf("minus the variances are %g", variance)
	}
	l.must("label", model, "--images", images, "--out", l.path("out"), "--report")
	if page := string(l.read(l.path("out", "report.html"))); !strings.Contains(page, "3 classes, learned in 1 session<") {
		t.Error("the report does not say that there was 1 session")
	}
}
