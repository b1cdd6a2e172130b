package main

import (
	"encoding/xml"
	"strings"
	"testing"
)

// TestInspectTree draws the tree of classes, with and without pictures.
func TestInspectTree(t *testing.T) {
	for _, method := range []string{"gptree", "hppca"} {
		t.Run(method, func(t *testing.T) {
			l := newTestbed(t)
			modelFile, images := l.trained("--classifier", method, "--set", "classifier.temperature=1")
			l.must("inspect", modelFile, "--tree", l.path("plain.svg"))
			l.must("inspect", modelFile, "--tree", l.path("pictures.svg"), "--images", images)
			plain, pictures := string(l.read(l.path("plain.svg"))), string(l.read(l.path("pictures.svg")))
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
	l := newTestbed(t)
	modelFile, _ := l.trained("--classifier", "ncm")
	l.refused(exitFailed, []string{"ncm", "gptree"}, "inspect", modelFile, "--tree", l.path("x.svg"))
	if l.exists(l.path("x.svg")) {
		t.Error("a refused picture leaves a file")
	}
	modelFile, _ = l.trained("--classifier", "gptree", "--set", "classifier.temperature=1")
	l.refused(exitFailed, []string{"nowhere"}, "inspect", modelFile, "--tree", l.path("x.svg"), "--images", l.path("nowhere"))
}

func TestInspectTellsTheResidual(t *testing.T) {
	l := newTestbed(t)
	modelFile, _ := l.trained("--classifier", "gptree", "--set", "classifier.temperature=1")
	if r := l.must("inspect", modelFile); !strings.Contains(r.stdout, "splits; elsewhere the mean (plda) alone decides") {
		t.Error(r.stdout)
	}
}
