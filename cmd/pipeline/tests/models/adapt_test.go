package models

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// TestLabelAdapt: label compares photos with each other unless it is told not to, says what it did, gives the
// same bytes again, and takes any head. Shards and single requests do without, and refuse to be asked for it.
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
	plain, adapted := label("plain", "--adapt=false"), label("adapted")
	if bytes.Equal(plain, adapted) {
		t.Error("comparing photos changes nothing")
	}
	if !bytes.Equal(adapted, label("adapted")) || !bytes.Equal(plain, label("plain", "--adapt=false")) {
		t.Error("another run, other labels")
	}
	for out, want := range map[string]string{
		"adapted": `"adapted": {
    "by": "graph",
    "photos": 88,
    "neighbours": 10,
    "present": 4
  }`,
		"plain": `"adapted": null`,
	} {
		if summary := string(l.Read(l.Path(out, "summary.json"))); !strings.Contains(summary, want) {
			t.Errorf("summary.json: %s", summary)
		}
	}
	l.Must("train", "--features", train, "--classifier", "lda", "--out", l.Path("lda.model"))
	l.Must("label", l.Path("lda.model"), "--features", all, "--out", l.Path("lda"))
	l.Must("label", model, "--features", all, "--shard", "1/2", "--out", l.Path("shards"))
	l.Refused(command.ExitUsage, []string{"--adapt", "--shard"}, "label", model, "--features", all, "--adapt",
		"--shard", "1/2", "--out", l.Path("x"))
	l.Refused(command.ExitUsage, []string{"--adapt", "--stdin"}, "label", model, "--adapt", "--stdin")
}
