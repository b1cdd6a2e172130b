package command

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestFirstStepsAreTheREADMEs: what the program says when called alone are the commands
// that the README begins with.
func TestFirstStepsAreTheREADMEs(t *testing.T) {
	readme := must.Get(os.ReadFile("../../../README.md"))(t)
	commands := 0
	for line := range strings.Lines(firstSteps) {
		if step, ok := strings.CutPrefix(line, "  "); ok {
			commands++
			if !strings.Contains(string(readme), strings.TrimSpace(step)) {
				t.Errorf("the README does not have %q", step)
			}
		}
	}
	if commands != 6 {
		t.Errorf("%d commands, want 6", commands)
	}
}

// TestRateCountsTheFirstImage: the time of the first image counts, too.
func TestRateCountsTheFirstImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen bytes.Buffer
		p := bars{out: &screen, shown: true}.begin(pipeline.Images, 20)
		time.Sleep(time.Second / 4) // of the test's own clock
		p.Add()
		if !strings.Contains(screen.String(), "(1/20, 4 images/s)") {
			t.Errorf("after one image in a quarter of a second the bar says %q", &screen)
		}
	})
}
