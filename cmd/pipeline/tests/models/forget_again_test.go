package models

import (
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// TestForgetAgain: what the model does not have is an error, unless the previous version
// has it, which a run was asked to keep.
func TestForgetAgain(t *testing.T) {
	l := commandtest.New(t)
	all := l.Features("all")
	model := l.Path("a.model")
	l.Must("train", "--features", all, "--out", model, "--classifier", "ppca", "--set", "classifier.ppca.q=3")
	l.Must("forget", model, "--class", "d", "--features", all, "--keep-previous")
	before := l.Read(model)
	unknown := []string{"unknown class"}
	l.Refused(command.ExitFailed, unknown, "forget", model, "--class", "d", "--features", all, "--keep-previous")
	l.Refused(command.ExitFailed, unknown, "forget", model, "--class", "d", "--class", "a", "--features", all)
	l.Refused(command.ExitFailed, unknown, "forget", model, "--class", "d", "--features", all, "--out",
		l.Path("b.model"))
	if !l.Exists(model + ".prev") {
		t.Fatal("a refused forget has removed the previous version")
	}
	r := l.Must("forget", model, "--class", "d", "--features", all)
	said := []string{"removed " + model + ".prev", "removed " + model + ".stats-", "had forgotten it already"}
	for _, word := range said {
		if !strings.Contains(r.Stdout, word) {
			t.Errorf("it does not say %q: %s", word, r.Stdout)
		}
	}
	if l.Exists(model + ".prev") {
		t.Error("the previous version is still there")
	}
	l.Refused(command.ExitFailed, unknown, "forget", model, "--class", "d", "--features", all)
	l.Same("what is done again", before, model)
}
