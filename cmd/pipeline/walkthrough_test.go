//go:build unix

package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestWalkthrough runs every command of docs/walkthrough.md as a user would type
// it. Exit code 3 is fine: one photo of the demo is broken on purpose.
func TestWalkthrough(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the demo")
	}
	l := newTestbed(t)
	env := append(l.onPath(), "PIPELINE_CACHE="+l.path("cache"))
	text := string(l.read("../../docs/walkthrough.md"))
	n, last := 0, ""
	for block := range strings.SplitSeq(text, "```sh\n") {
		commands, _, fenced := strings.Cut(block, "```")
		if !fenced {
			continue
		}
		for command := range strings.Lines(commands) {
			cmd := exec.Command("bash", "-c", command)
			cmd.Dir, cmd.Env = l.dir, env
			out, err := cmd.CombinedOutput()
			if err != nil && cmd.ProcessState.ExitCode() != exitPartial {
				t.Fatalf("%s%v\n%s", command, err, out)
			}
			n, last = n+1, string(out)
		}
	}
	if n != 14 || !strings.Contains(last, "chose 20") || !l.exists(l.path("labels", "by-class", "fire")) || !l.exists(l.path("labels", "report.html")) {
		t.Errorf("%d commands were run; the last one says\n%s", n, last)
	}
	if labelled := string(l.read(l.path("labels", "labels.csv"))); strings.Count(labelled, ",fire,") < 2 {
		t.Errorf("the new class is not recognised:\n%s", labelled)
	}
}
