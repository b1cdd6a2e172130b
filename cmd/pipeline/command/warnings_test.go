package command_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestClassNames: training with one class, and a class whose name is almost
// another's, are allowed but not silent.
func TestClassNames(t *testing.T) {
	l := commandtest.New(t)
	file := l.Path("m.model")
	one := l.Must("train", "--classifier", "ncm", "--images",
		l.Photos(l.Path("one"), commandtest.SmallSide, 3, "Banana"), "--out", file)
	if !strings.Contains(one.Stderr, "only one class") || !strings.Contains(one.Stderr, "novelty") {
		t.Errorf("one class: %s", one.Stderr)
	}
	l.Refused(command.ExitUsage, []string{"error: preprocess.resize: \"foo\"", "shorter"}, "train", "--images",
		l.Path("one"), "--out", file, "--set", "preprocess.resize=foo")
	typo := l.Must("learn", file, "--images", l.Photos(l.Path("two"), commandtest.SmallSide, 2, "banana", "Cherry"))
	for _, word := range []string{`\"banana\" beside \"Banana\"`, "classes=1", "rename", "pipeline forget"} {
		if !strings.Contains(typo.Stderr, word) {
			t.Errorf("a typo: no %s in %s", word, typo.Stderr)
		}
	}
	if again := l.Must("learn", file, "--images", l.Path("two")); strings.Contains(again.Stderr, "beside") {
		t.Errorf("old classes: %s", again.Stderr)
	}
	l.Refused(command.ExitFailed, []string{`did you mean "Cherry"`}, "forget", file, "--class", "Chery")
	l.Refused(command.ExitFailed, []string{`did you mean "Banana"`}, "forget", file, "--class", "Bananas")
}

// TestConflictingLabels: photos in two class folders give one warning, with
// their number.
func TestConflictingLabels(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("base"), commandtest.SmallSide, 6, "kiwi", "lime")
	for _, name := range []string{"000", "001", "002", "003", "004"} {
		l.Write(l.Path("base", "lime", "copy"+name+".jpg"), l.Read(l.Path("base", "kiwi", name+".jpg")))
	}
	r := l.Must("train", "--classifier", "ncm", "--images", images, "--out", l.Path("m.model"))
	if n := strings.Count(r.Stderr, "several labels"); n != 1 || !strings.Contains(r.Stderr, "images=10") ||
		strings.Count(r.Stderr, "(kiwi, lime)") != 3 {
		t.Errorf("%d warnings: %s", n, r.Stderr)
	}
}

// TestRankByVariance: a method with a predictive variance ranks by it. The
// report of the same model counts its one session.
func TestRankByVariance(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained("--classifier", "gptree")
	l.Must("rank", model, "--images", images, "--by", "variance", "--out", l.Path("look.csv"))
	var variance []float64
	for _, row := range l.Table(l.Path("look.csv"))[1:] {
		v := must.Get(strconv.ParseFloat(row[4], 64))(t)
		variance = append(variance, -v)
	}
	if len(variance) != 24 || !slices.IsSorted(variance) || variance[0] == variance[23] {
		t.Errorf("minus the variances are %g", variance)
	}
	l.Must("label", model, "--images", images, "--out", l.Path("out"), "--report")
	if page := string(l.Read(l.Path("out", "report.html"))); !strings.Contains(page,
		"3 classes, learned in 1 session<") {
		t.Error("the report does not say that there was 1 session")
	}
}
