package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// stand-in for the program: notes its arguments, writes a table into the folder after --out, and fails for
// --config gpr_toy while the file "broken" is there.
const standIn = `#!/bin/sh
case "$*" in --version) echo "pipeline version test"; exit;; esac
echo "$*" >>"$(dirname "$0")/calls"
echo a table
for last in "$@"; do :; done
mkdir -p "$last"
printf 'variant,source,all,first\nvar-gp,this run,1.5 ± 0.3,7\nours,published,2,3\n' >"$last/table.csv"
case "$*" in *gpr_toy*) [ ! -e "$(dirname "$0")/broken" ] || { echo no memory >&2; exit 1; };; esac
`

// TestTables: what was made is not made again, what failed is, and what has no data is named.
func TestTables(t *testing.T) {
	python, dir := python(t), t.TempDir()
	program, kept := filepath.Join(dir, "pipeline"), filepath.Join(dir, "kept")
	out := filepath.Join(dir, "out")
	if err := os.WriteFile(program, []byte(standIn), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "broken"), "")
	tables := func(want int, names ...string) string {
		t.Helper()
		args := []string{"tables.py", "--pipeline", program, "--out", out, "--data", dir, "--kept", kept}
		cmd := exec.Command(python, append(args, names...)...)
		said, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%s: exit status %d, not %d: %s", names, got, want, said)
		}
		return string(said)
	}
	calls := func() int { return strings.Count(read(t, dir, "calls"), "\n") }

	if said := tables(1, "vargp_toy", "gpr_toy"); !strings.Contains(said, "gpr_toy: exit status 1; see ") ||
		!strings.Contains(said, "1 of 2 tables") || calls() != 2 {
		t.Error(said)
	}
	if got := read(t, out, "gpr_toy", "log.txt"); got != "no memory\n" {
		t.Errorf("the log has %q", got)
	}
	must.Do(t, os.Remove(filepath.Join(dir, "broken")))
	if said := tables(0, "vargp_toy", "gpr_toy"); !strings.Contains(said, "2 of 2 tables") || calls() != 3 {
		t.Error(said)
	}
	if got := read(t, out, "vargp_toy", "out.txt"); got != "a table\n" {
		t.Errorf("the output is %q", got)
	}
	for _, word := range []string{`"seconds": `, "pipeline version test", "--config vargp_toy"} {
		if !strings.Contains(read(t, out, "vargp_toy", "done.json"), word) {
			t.Errorf("done.json lacks %s", word)
		}
	}
	if said := tables(0, "--list", "gpr_toy"); !strings.Contains(said, "made 20") {
		t.Error(said)
	}
	if said := tables(0, "vargp_toy"); !strings.Contains(said, "vargp_toy.csv: not kept yet\n") {
		t.Error(said)
	}
	must.Do(t, os.Mkdir(kept, 0o700))
	tables(0, "--keep", "vargp_toy")
	const header = "variant,source,all,first\n"
	if got := read(t, kept, "vargp_toy.csv"); got != header+"var-gp,this run,1.5 ± 0.3,7\n" {
		t.Errorf("%q is kept", got)
	}
	const one, two = "figures that moved: 1, by more than their errors: 1; most: var-gp, all: 1.5 ± 0.3, was 1.1 ± 0.2",
		"figures that moved: 2, by more than their errors: 0; most: var-gp, first: 7, was −7"
	for old, want := range map[string]string{
		"var-gp,this run,1.5 ± 0.3,7\n":  "the same",
		"var-gp,this run,1.1 ± 0.2,7\n":  one,
		"var-gp,this run,1.2 ± 0.2,−7\n": two,
		"gp,this run,1.5 ± 0.3,7\n":      "other words, the same figures",
		"":                               "other rows or columns",
	} {
		write(t, filepath.Join(kept, "vargp_toy.csv"), header+old)
		if said := tables(0, "vargp_toy"); !strings.Contains(said, "vargp_toy.csv: "+want+"\n") {
			t.Errorf("%q: %s", old, said)
		}
	}
	write(t, filepath.Join(out, "vargp_toy", "run", "table.csv"), "")
	if said := tables(0, "vargp_toy"); !strings.Contains(said, "table.csv has no table\n") {
		t.Error(said)
	}
	if said := tables(3, "sessions_vit"); calls() != 3 ||
		!strings.Contains(said, "mini_vit: left out, needs mini_imagenet, vit_tiny.onnx") ||
		!strings.Contains(said, "sessions_vit: left out, needs index_lists/mini_imagenet, mini_vit") {
		t.Error(said)
	}
	if said := tables(1, "no_such"); !strings.Contains(said, `no table 'no_such'`) {
		t.Error(said)
	}
}

// TestBeside: figures of one thing stand side by side, several of one place as their mean and its error, and the
// results of methods have a name for each run.
func TestBeside(t *testing.T) {
	python, dir := python(t), t.TempDir()
	write(t, filepath.Join(dir, "out.txt"), "read 2 files\n| set | K | choice | right |\n|---|---|---|---|\n"+
		"| a | 1 | `random` | 1.0 |\n| a | 1 | `best` | 5.5 |\n| set | K | choice | right |\n|---|---|---|---|\n"+
		"| b | 2 | `random` | 3.0 |\n| a | 1 | `random` | 2.0 |\n")
	for name, at := range map[string]string{"one": "0.5", "two": "0.25"} {
		must.Do(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		write(t, filepath.Join(dir, name, "results.json"), `{"method": "ncm", "average_accuracy": 0.6, "sessions": [`+
			`{"accuracy": 0.75, "nll": 0, "ece": 0}, {"accuracy": `+at+`, "nll": 1.2345, "ece": 0.0625}]}`)
	}
	const program = `
import json, pathlib, sys, kept
print("\n".join(",".join(row) for row in kept.table_of(pathlib.Path(sys.argv[1]), json.loads(sys.argv[2]))))`
	for sources, want := range map[string]string{
		`{"files": ["out.txt"], "by": ["set", "K"], "across": "choice", "of": ["right"]}`: "" +
			"set,K,random,best\na,1,1.5 ± 0.5,5.5\nb,2,3.0,\n",
		`{"files": {"x": ["one/results.json"], "y": ["*/results.json"]}}`: "run,method,first,last,mean,NLL,ECE\n" +
			"x,ncm,75.00,50.00,60.00,0.617,0.031\ny,ncm,75.00,50.00,60.00,0.617,0.031\n" +
			"y,ncm,75.00,25.00,60.00,0.617,0.031\n",
		`{"files": {"x": ["one/results.json"], "y": ["*/results.json"]}, "by": ["method"], "across": "run", ` +
			`"of": ["last", "NLL"]}`: "method,x: last,x: NLL,y: last,y: NLL\n" +
			"ncm,50.00,0.617,37.50 ± 12.50,0.617 ± 0.000\n",
	} {
		out, err := exec.Command(python, "-c", program, dir, sources).CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", sources, err, out, want)
		}
	}
}
