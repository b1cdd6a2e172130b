package main

import (
	"strings"
	"testing"
)

// TestForgetAgain: what the model does not have is an error, unless the previous version
// has it, which a run was asked to keep.
func TestForgetAgain(t *testing.T) {
	l := newTestbed(t)
	all := l.features("all")
	model := l.path("a.model")
	l.must("train", "--features", all, "--out", model, "--classifier", "ppca", "--set", "classifier.ppca.q=3")
	l.must("forget", model, "--class", "d", "--features", all, "--keep-previous")
	before := l.read(model)
	unknown := []string{"unknown class"}
	l.refused(exitFailed, unknown, "forget", model, "--class", "d", "--features", all, "--keep-previous")
	l.refused(exitFailed, unknown, "forget", model, "--class", "d", "--class", "a", "--features", all)
	l.refused(exitFailed, unknown, "forget", model, "--class", "d", "--features", all, "--out", l.path("b.model"))
	if !l.exists(model + ".prev") {
		t.Fatal("a refused forget has removed the previous version")
	}
	r := l.must("forget", model, "--class", "d", "--features", all)
	said := []string{"removed " + model + ".prev", "removed " + model + ".stats-", "had forgotten it already"}
	for _, word := range said {
		if !strings.Contains(r.stdout, word) {
			t.Errorf("it does not say %q: %s", word, r.stdout)
		}
	}
	if l.exists(model + ".prev") {
		t.Error("the previous version is still there")
	}
	l.refused(exitFailed, unknown, "forget", model, "--class", "d", "--features", all)
	l.same("what is done again", before, model)
}
