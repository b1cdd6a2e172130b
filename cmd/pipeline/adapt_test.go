package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestLabelAdapt: label --adapt says what it did, gives the same bytes again, and
// refuses what it cannot adapt.
func TestLabelAdapt(t *testing.T) {
	l := newTestbed(t)
	var rest []string
	for _, class := range []string{"a", "b", "c", "d"} {
		for i := 3; i < 22; i++ {
			rest = append(rest, fmt.Sprintf("%s/%02d.jpg", class, i))
		}
	}
	train, all, model := l.features("train", rest...), l.features("all"), l.path("m.model")
	l.must("train", "--features", train, "--out", model)
	label := func(out string, flags ...string) []byte {
		l.must(append([]string{"label", model, "--features", all, "--out", l.path(out)}, flags...)...)
		return l.read(l.path(out, "labels.csv"))
	}
	plain, adapted := label("plain"), label("adapted", "--adapt")
	if bytes.Equal(plain, adapted) {
		t.Error("--adapt changes nothing")
	}
	if !bytes.Equal(adapted, label("adapted", "--adapt")) || !bytes.Equal(plain, label("plain")) {
		t.Error("another run, other labels")
	}
	if summary := string(l.read(l.path("adapted", "summary.json"))); !strings.Contains(summary, "adapted to 88 different images: moved 4 of the 4 classes") || !strings.Contains(summary, `"adapt": true`) {
		t.Errorf("summary.json: %s", summary)
	}
	l.must("train", "--features", train, "--classifier", "lda", "--out", l.path("lda.model"))
	l.refused(exitFailed, []string{"lda", "only plda"}, "label", l.path("lda.model"), "--features", all, "--adapt", "--out", l.path("x"))
	l.refused(exitUsage, []string{"--adapt", "--shard"}, "label", model, "--features", all, "--adapt", "--shard", "1/2", "--out", l.path("x"))
	l.refused(exitUsage, []string{"--adapt", "--stdin"}, "label", model, "--adapt", "--stdin")
}
