package main

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestAuto: without --classifier, train says which method it chose and why, inspect how
// each did, and the same images give the same file. With few images there is a rule.
func TestAuto(t *testing.T) {
	l := newTestbed(t)
	features, model := l.clouds(l.path("clouds")), l.path("m")
	train := []string{"train", "--features", features, "--out", model}
	if said := l.must(train...).stdout; !strings.Contains(said, "chose pl") || !strings.Contains(said, "of held-out images correctly") {
		t.Errorf("train says\n%s", said)
	}
	shown := l.must("inspect", model).stdout
	for _, words := range []string{"method     chosen: ", "ncm ", "plda+ ", "standard error"} {
		if !strings.Contains(shown, words) {
			t.Errorf("no %q in\n%s", words, shown)
		}
	}
	if shown := l.must("inspect", model, "--json").stdout; !strings.Contains(shown, `"trials"`) {
		t.Errorf("inspect --json shows\n%s", shown)
	}
	want := l.read(model)
	l.must(train...)
	l.same("the second run", want, model)
	if said := l.must("train", "--features", l.animals(), "--out", l.path("few")).stdout; !strings.Contains(said, "chose plda, the rule while most classes have fewer than 12 images") {
		t.Errorf("with few images train says\n%s", said)
	}
}

// TestAutoInSessions: without --classifier, fscil takes the method that train chooses
// on the base session through all sessions, and names it in every output.
func TestAutoInSessions(t *testing.T) {
	l := newTestbed(t)
	features := l.clouds(l.path("clouds"))
	first := l.must("fscil", "--features", features, "--out", l.path("auto"))
	auto := l.object(l.path("auto"), "results.json")
	chosen := fmt.Sprint(auto["chosen"].([]any)[0])
	if auto["method"] != "auto" || !strings.Contains(first.stdout, "chose "+chosen) || !strings.Contains(first.stdout, "auto ("+chosen+")") {
		t.Errorf("chosen %s, and fscil says\n%s", chosen, first.stdout)
	}
	if table := string(l.read(l.path("auto", "table.md"))); !strings.Contains(table, "auto ("+chosen+")") {
		t.Errorf("no auto (%s) in\n%s", chosen, table)
	}
	run := l.object(l.path("auto"), "details.json")["runs"].([]any)[0].(map[string]any)
	if run["chosen"] != chosen {
		t.Errorf("details.json: chosen %v, want %s", run["chosen"], chosen)
	}
	l.must("fscil", "--features", features, "--classifier", chosen, "--out", l.path("given"))
	given := l.object(l.path("given"), "results.json")
	if !reflect.DeepEqual(auto["sessions"], given["sessions"]) {
		t.Errorf("auto\n%v\n%s\n%v", auto["sessions"], chosen, given["sessions"])
	}
	if again := l.must("fscil", "--features", features, "--out", l.path("auto")).stdout; !strings.Contains(again, "auto ("+chosen+")") || strings.Contains(again, "chose ") {
		t.Errorf("a finished run was not kept:\n%s", again)
	}
	l.write(l.path("c.yaml"), []byte("fscil: {variants: [{name: mine, classifier: auto, set: {q: 3}}]}"))
	l.refused(exitUsage, []string{"fscil.variants", "auto has no settings of its own"}, "fscil", "--config", l.path("c.yaml"), "--features", features, "--out", l.path("f"))
}

// TestOldShare: a higher share names more images of base classes correctly and fewer
// of later ones, in fscil and in a model, which keeps it.
func TestOldShare(t *testing.T) {
	l := newTestbed(t)
	features := l.clouds(l.path("features"))
	last := func(share string) map[string]any {
		out := l.path("fscil-" + share)
		l.must("fscil", "--features", features, "--classifier", "plda", "--set", "classifier.old_share="+share, "--out", out)
		sessions := l.object(out, "results.json")["sessions"].([]any)
		return sessions[len(sessions)-1].(map[string]any)
	}
	few, many := last("0.0001"), last("0.9999")
	if few["base_accuracy"].(float64) >= many["base_accuracy"].(float64) || few["novel_accuracy"].(float64) <= many["novel_accuracy"].(float64) {
		t.Errorf("few from old classes: %v\nmany: %v", few, many)
	}
	l.refused(exitUsage, []string{"classifier.old_share", "between 0 and 1"}, "fscil", "--features", features, "--set", "classifier.old_share=1.5", "--out", l.path("x"))
}

// TestExportOldShare: the share is part of the exported graph. It is set when a later
// session is learned.
func TestExportOldShare(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	l.must("learn", model, "--images", l.photos(l.path("more"), smallSide, 3, "pear"), "--set", "classifier.old_share=0.9")
	if shown := l.must("inspect", model).stdout; !strings.Contains(shown, "old share  90 %") {
		t.Errorf("inspect shows\n%s", shown)
	}
	l.must("label", model, "--images", images, "--out", l.path("labels"), "--set", "classifier.old_share=0.2")
	if notes := l.object(l.path("labels"), "summary.json")["notes"]; !strings.Contains(fmt.Sprint(notes), "20 % of images are expected") {
		t.Errorf("summary.json notes %v", notes)
	}
	l.checkExport(t, model, images)
}
