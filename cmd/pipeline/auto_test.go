package main

import (
	"fmt"
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
	l.refused(exitUsage, []string{"auto is not a method", "pipeline train"}, "fscil", "--features", features, "--classifier", "auto", "--out", l.path("f"))
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
