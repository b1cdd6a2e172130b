package models

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// TestLabelAdapt: label --adapt says what it did, gives the same bytes again, takes
// any head, and refuses what it cannot do.
func TestLabelAdapt(t *testing.T) {
	l := commandtest.New(t)
	var rest []string
	for _, class := range []string{"a", "b", "c", "d"} {
		for i := 3; i < 22; i++ {
			rest = append(rest, fmt.Sprintf("%s/%02d.jpg", class, i))
		}
	}
	train, all, model := l.Features("train", rest...), l.Features("all"), l.Path("m.model")
	l.Must("train", "--features", train, "--out", model)
	label := func(out string, flags ...string) []byte {
		l.Must(append([]string{"label", model, "--features", all, "--out", l.Path(out)}, flags...)...)
		return l.Read(l.Path(out, "labels.csv"))
	}
	plain, adapted := label("plain"), label("adapted", "--adapt")
	if bytes.Equal(plain, adapted) {
		t.Error("--adapt changes nothing")
	}
	if !bytes.Equal(adapted, label("adapted", "--adapt")) || !bytes.Equal(plain, label("plain")) {
		t.Error("another run, other labels")
	}
	if summary := string(l.Read(l.Path("adapted", "summary.json"))); !strings.Contains(summary,
		"compared 88 different images with each other") || !strings.Contains(summary, `"adapt": true`) {
		t.Errorf("summary.json: %s", summary)
	}
	l.Must("train", "--features", train, "--classifier", "lda", "--out", l.Path("lda.model"))
	l.Must("label", l.Path("lda.model"), "--features", all, "--adapt", "--out", l.Path("lda"))
	l.Refused(command.ExitUsage, []string{"--adapt", "--shard"}, "label", model, "--features", all, "--adapt",
		"--shard", "1/2", "--out", l.Path("x"))
	l.Refused(command.ExitUsage, []string{"--adapt", "--stdin"}, "label", model, "--adapt", "--stdin")
}
