package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestKillAt: rm makes as many changes as it is given files.
func TestKillAt(t *testing.T) {
	for step, want := range map[int]struct{ killed, one, two bool }{
		1: {true, true, true}, 2: {true, false, true}, 3: {false, false, false},
	} {
		one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
		for _, file := range []string{one, two} {
			must.Do(t, os.WriteFile(file, nil, 0o644))
		}
		killed, code := KillAt(t, step, exec.Command("rm", one, two))
		_, e1 := os.Stat(one)
		_, e2 := os.Stat(two)
		if killed != want.killed || (e1 == nil) != want.one || (e2 == nil) != want.two || !killed && code != 0 {
			t.Errorf("step %d: killed %t, exit code %d, %v, %v", step, killed, code, e1, e2)
		}
	}
	if killed, code := KillAt(t, 9, exec.Command("rm", t.TempDir())); killed || code != 1 {
		t.Errorf("killed %t, exit code %d", killed, code)
	}
}
