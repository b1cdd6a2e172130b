package commandtest

import (
	"fmt"
	"os"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// OnPath makes the test binary the program "pipeline" of shell scripts.
func (l *Bed) OnPath() []string { return l.onPath("") }

// OnPathAfterDemo is OnPath for manuals that begin with "pipeline demo --out FOLDER", which copies the
// folder of [Bed.Demo]; all commands have its cache.
func (l *Bed) OnPathAfterDemo() []string {
	l.Helper()
	d := l.Demo()
	copies := fmt.Sprintf("case \"$*\" in \"demo --out \"*) mkdir -p \"$3\" && exec cp -R %q/. \"$3\" ;; esac\n", d.Dir)
	return append(l.onPath(copies), "PIPELINE_CACHE="+d.Cache)
}

// onPath is OnPath for a program that does something else first.
func (l *Bed) onPath(first string) []string {
	l.Helper()
	self := must.Get(os.Executable())(l)
	l.Write(l.Path("bin", "pipeline"), fmt.Appendf(nil, "#!/bin/sh\n%sexec %q \"$@\"\n", first, self))
	must.Do(l, os.Chmod(l.Path("bin", "pipeline"), 0o755))
	return append(l.Env, "PATH="+l.Path("bin")+":"+os.Getenv("PATH"))
}

// CheckExample checks that an example names a command and flags that exist.
func CheckExample(t *testing.T, example []string) {
	t.Helper()
	cmd, rest, err := command.NewRoot().Find(example)
	if err != nil {
		t.Errorf("example %q: %v", example, err)
		return
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("example %q: %v", example, err)
		return
	}
	args := cmd.Flags().Args()
	if err := cmd.ValidateArgs(args); err != nil {
		t.Errorf("example %q: %v", example, err)
	}
	if cmd.CommandPath() == "pipeline backbones pull" {
		if _, err := backbone.Lookup(args[0]); err != nil {
			t.Errorf("example %q: %v", example, err)
		}
	}
}
