//go:build unix

package manuals

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestWalkthrough runs every command of docs/walkthrough.md as a user would type
// it. Exit code 3 is fine: one photo of the demo is broken on purpose.
func TestWalkthrough(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the demo")
	}
	l := commandtest.New(t)
	env := l.OnPathAfterDemo()
	text := string(l.Read("../../../../docs/walkthrough.md"))
	n, last := 0, ""
	for block := range strings.SplitSeq(text, "```sh\n") {
		commands, _, fenced := strings.Cut(block, "```")
		if !fenced {
			continue
		}
		for command := range strings.Lines(commands) {
			n, last = n+1, typed(l, env, "bash", "-c", command)
		}
	}
	if n != 14 || !strings.Contains(last, "chose 20") || !l.Exists(l.Path("labels", "by-class", "hot-air-balloon")) ||
		!l.Exists(l.Path("labels", "report.html")) {
		t.Errorf("%d commands were run; the last one says\n%s", n, last)
	}
	if labelled := string(l.Read(l.Path("labels", "labels.csv"))); strings.Count(labelled, ",hot-air-balloon,") < 2 ||
		strings.Count(labelled, ",cactus,") < 2 {
		t.Errorf("the new classes are not recognised:\n%s", labelled)
	}
}

// typed runs a program in the testbed's folder and returns what it prints.
func typed(l *commandtest.Bed, env []string, name string, args ...string) string {
	l.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = l.Dir, env
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() != command.ExitPartial {
		l.Fatalf("%s: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestPythonDocs runs the blocks of docs/python.md, first those of the shell, then
// those of Python as one program.
func TestPythonDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the demo")
	}
	python := testenv.Python(t, "duckdb", "numpy", "onnx")
	l := commandtest.New(t)
	env := l.OnPathAfterDemo()
	var program strings.Builder
	blocks := regexp.MustCompile("(?s)```(sh|python)\n(.*?)```")
	manual := string(l.Read("../../../../docs/python.md"))
	for _, block := range blocks.FindAllStringSubmatch(manual, -1) {
		if block[1] == "python" {
			program.WriteString(block[2])
			continue
		}
		for command := range strings.Lines(block[2]) {
			typed(l, env, "bash", "-c", command)
		}
	}
	out := typed(l, env, python, "-c", program.String())
	for _, want := range []string{"304) 12 classes", "plda 16 classes", "more than 90 %",
		"both files are the same: True", "training photos"} {
		if !strings.Contains(out, want) {
			t.Errorf("docs/python.md does not print %q:\n%s", want, out)
		}
	}
	var right, of int
	if _, err := fmt.Sscanf(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:], "%d of %d", &right,
		&of); err != nil || right < of*9/10 {
		t.Errorf("the exported model names %d of %d training photos: %v", right, of, err)
	}
}

// TestNotebook: docs/walkthrough.ipynb is made of its script, and its cells run.
func TestNotebook(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the demo")
	}
	python := testenv.Python(t)
	l := commandtest.New(t)
	program := filepath.Join(testenv.ModuleRoot(t), "scripts", "notebook", "notebook.py")
	notebook := filepath.Join(testenv.ModuleRoot(t), "docs", "walkthrough.ipynb")
	typed(l, l.Env, python, program, "make", filepath.Join(filepath.Dir(program), "walkthrough.py"),
		l.Path("made.ipynb"))
	if !bytes.Equal(l.Read(l.Path("made.ipynb")), l.Read(notebook)) {
		t.Error("docs/walkthrough.ipynb is out of date: run scripts/notebook/notebook.py make " +
			"scripts/notebook/walkthrough.py docs/walkthrough.ipynb")
	}
	out := typed(l, l.OnPathAfterDemo(), python, program, "run", notebook)
	if !strings.Contains(out, "photos of cacti") || strings.Contains(out, "\n0 photos of cacti") {
		t.Errorf("the notebook prints\n%s", out)
	}
}
