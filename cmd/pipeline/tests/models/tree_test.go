package models

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// TestInspectTree draws the tree of classes, with and without pictures.
func TestInspectTree(t *testing.T) {
	for _, method := range []string{"gptree", "hppca"} {
		t.Run(method, func(t *testing.T) {
			l := commandtest.New(t)
			modelFile, images := l.Trained("--classifier", method, "--set", "classifier.temperature=1")
			l.Must("inspect", modelFile, "--tree", l.Path("plain.svg"))
			l.Must("inspect", modelFile, "--tree", l.Path("pictures.svg"), "--images", images)
			plain, pictures := string(l.Read(l.Path("plain.svg"))), string(l.Read(l.Path("pictures.svg")))
			if err := xml.Unmarshal([]byte(pictures), new(struct{})); err != nil {
				t.Error(err)
			}
			for _, class := range []string{"kiwi", "lime", "plum"} {
				if !strings.Contains(plain, ">"+class+"<") {
					t.Errorf("class %s is missing", class)
				}
			}
			if strings.Contains(plain, "<image") || strings.Count(pictures, "<image") != 3 {
				t.Errorf("%d pictures", strings.Count(pictures, "<image"))
			}
		})
	}
}

func TestInspectTreeRefuses(t *testing.T) {
	l := commandtest.New(t)
	modelFile, _ := l.Trained("--classifier", "ncm")
	l.Refused(command.ExitFailed, []string{"ncm", "gptree"}, "inspect", modelFile, "--tree", l.Path("x.svg"))
	if l.Exists(l.Path("x.svg")) {
		t.Error("a refused picture leaves a file")
	}
	modelFile, _ = l.Trained("--classifier", "gptree", "--set", "classifier.temperature=1")
	l.Refused(command.ExitFailed, []string{"nowhere"}, "inspect", modelFile, "--tree", l.Path("x.svg"), "--images",
		l.Path("nowhere"))
}

func TestInspectTellsTheResidual(t *testing.T) {
	l := commandtest.New(t)
	modelFile, _ := l.Trained("--classifier", "gptree", "--set", "classifier.temperature=1")
	if r := l.Must("inspect", modelFile); !strings.Contains(r.Stdout,
		"splits; elsewhere the mean (plda) alone decides") {
		t.Error(r.Stdout)
	}
}

// TestInspectNamesWhatWasChosen: what a head chose has the name of its setting.
func TestInspectNamesWhatWasChosen(t *testing.T) {
	for method, names := range map[string][2]string{"ppca": {"lambda", "epsilon"}, "plda": {"epsilon", "lambda"}} {
		l := commandtest.New(t)
		modelFile, _ := l.Trained("--classifier", method, "--set", "classifier."+method+"."+names[0]+"=0")
		r := l.Must("inspect", modelFile)
		if !strings.Contains(r.Stdout, "\n"+names[0]+" ") || strings.Contains(r.Stdout, "\n"+names[1]+" ") {
			t.Errorf("%s: %s", method, r.Stdout)
		}
	}
}
