package command_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// TestAuto: without --classifier, train says which method it chose and why, inspect how
// each did, and the same images give the same file. With few images there is a rule.
func TestAuto(t *testing.T) {
	l := commandtest.New(t)
	features, model := l.Clouds(l.Path("clouds")), l.Path("m")
	train := []string{"train", "--features", features, "--out", model}
	if said := l.Must(train...).Stdout; !strings.Contains(said, "chose pl") ||
		!strings.Contains(said, "of held-out images correctly") {
		t.Errorf("train says\n%s", said)
	}
	shown := l.Must("inspect", model).Stdout
	for _, words := range []string{"method     chosen: ", "ncm ", "plda+ ", "standard error"} {
		if !strings.Contains(shown, words) {
			t.Errorf("no %q in\n%s", words, shown)
		}
	}
	if shown := l.Must("inspect", model, "--json").Stdout; !strings.Contains(shown, `"trials"`) {
		t.Errorf("inspect --json shows\n%s", shown)
	}
	want := l.Read(model)
	l.Must(train...)
	l.Same("the second run", want, model)
	if said := l.Must("train", "--features", animals(l), "--out", l.Path("few")).Stdout; !strings.Contains(said,
		"chose plda, the rule while most classes have fewer than 12 images") {
		t.Errorf("with few images train says\n%s", said)
	}
}

// TestAutoInSessions: without --classifier, fscil takes the method that train chooses
// on the base session through all sessions, and names it in every output.
func TestAutoInSessions(t *testing.T) {
	l := commandtest.New(t)
	features := l.Clouds(l.Path("clouds"))
	first := l.Must("fscil", "--features", features, "--out", l.Path("auto"))
	auto := l.Object(l.Path("auto"), "results.json")
	chosen := fmt.Sprint(auto["chosen"].([]any)[0])
	if auto["method"] != "auto" || !strings.Contains(first.Stdout, "chose "+chosen) ||
		!strings.Contains(first.Stdout, "auto ("+chosen+")") {
		t.Errorf("chosen %s, and fscil says\n%s", chosen, first.Stdout)
	}
	if table := string(l.Read(l.Path("auto", "table.md"))); !strings.Contains(table, "auto ("+chosen+")") {
		t.Errorf("no auto (%s) in\n%s", chosen, table)
	}
	run := l.Object(l.Path("auto"), "details.json")["runs"].([]any)[0].(map[string]any)
	if run["chosen"] != chosen {
		t.Errorf("details.json: chosen %v, want %s", run["chosen"], chosen)
	}
	l.Must("fscil", "--features", features, "--classifier", chosen, "--out", l.Path("given"))
	given := l.Object(l.Path("given"), "results.json")
	if !reflect.DeepEqual(auto["sessions"], given["sessions"]) {
		t.Errorf("auto\n%v\n%s\n%v", auto["sessions"], chosen, given["sessions"])
	}
	if again := l.Must("fscil", "--features", features, "--out", l.Path("auto")).Stdout; !strings.Contains(again,
		"auto ("+chosen+")") || strings.Contains(again, "chose ") {
		t.Errorf("a finished run was not kept:\n%s", again)
	}
	l.Write(l.Path("c.yaml"), []byte("fscil: {variants: [{name: mine, classifier: auto, set: {q: 3}}]}"))
	l.Refused(command.ExitUsage, []string{"fscil.variants", "auto has no settings of its own"}, "fscil", "--config",
		l.Path("c.yaml"), "--features", features, "--out", l.Path("f"))
}

// TestOldShare: a higher share names more images of base classes correctly and fewer
// of later ones, in fscil and in a model, which keeps it.
func TestOldShare(t *testing.T) {
	l := commandtest.New(t)
	features := l.Clouds(l.Path("features"))
	last := func(share string) map[string]any {
		out := l.Path("fscil-" + share)
		l.Must("fscil", "--features", features, "--classifier", "plda", "--set", "classifier.old_share="+share, "--out",
			out)
		sessions := l.Object(out, "results.json")["sessions"].([]any)
		return sessions[len(sessions)-1].(map[string]any)
	}
	few, many := last("0.0001"), last("0.9999")
	if few["base_accuracy"].(float64) >= many["base_accuracy"].(float64) ||
		few["novel_accuracy"].(float64) <= many["novel_accuracy"].(float64) {
		t.Errorf("few from old classes: %v\nmany: %v", few, many)
	}
	l.Refused(command.ExitUsage, []string{"classifier.old_share", "between 0 and 1"}, "fscil", "--features", features,
		"--set", "classifier.old_share=1.5", "--out", l.Path("x"))
}

// TestExportOldShare: the share is part of the exported graph. It is set when a later
// session is learned.
func TestExportOldShare(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	l.Must("learn", model, "--images", l.Photos(l.Path("more"), commandtest.SmallSide, 3, "pear"), "--set",
		"classifier.old_share=0.9")
	if shown := l.Must("inspect", model).Stdout; !strings.Contains(shown, "old share  90 %") {
		t.Errorf("inspect shows\n%s", shown)
	}
	l.Must("label", model, "--images", images, "--out", l.Path("labels"), "--set", "classifier.old_share=0.2")
	if notes := l.Object(l.Path("labels"), "summary.json")["notes"]; !strings.Contains(fmt.Sprint(notes),
		"20 % of images are expected") {
		t.Errorf("summary.json notes %v", notes)
	}
	checkExport(l, t, model, images)
}
