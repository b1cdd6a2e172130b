package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// A stand-in for a test program notes that it ran, and has a benchmark that the other side lacks.
const benchStandIn = `#!/bin/sh
case "$1" in -test.list) echo BenchmarkSum; echo BenchmarkSIDE; exit;; esac
case "$*" in *SIDE*|*'^()$'*) exit 2;; esac
echo SIDE >>"$(dirname "$0")/calls"
n=$(grep -c SIDE "$(dirname "$0")/calls")
echo "BenchmarkSum/n=7-16         	     100	  $((n * TIMES)).5 ns/op	 3 B/op"
`

// TestBenchBeside: the sides take turns in who is first, and a row has the medians and the
// ratios of the rounds.
func TestBenchBeside(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "gp", "gpr"), 0o700))
	for side, times := range map[string]string{"base": "1000", "head": "2000"} {
		text := strings.NewReplacer("SIDE", side, "TIMES", times).Replace(benchStandIn)
		name := filepath.Join(dir, "gp", "gpr", side+".test")
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	run := func() (string, error) {
		out, err := exec.Command(python(t), "bench_beside.py", "run", dir, "--rounds", "3").Output()
		return string(out), err
	}
	out, err := run()
	if err != nil {
		t.Fatal(out, err)
	}
	if got := read(t, dir, "gp/gpr/calls"); got != "base\nhead\nhead\nbase\nbase\nhead\n" {
		t.Errorf("order of runs: %q", got)
	}
	row := strings.Fields(strings.Split(out, "\n")[1])
	if want := "2.00 2.00 2.00 2000 4000 gp/gpr Sum/n=7"; strings.Join(row, " ") != want {
		t.Errorf("%q is not %q", row, want)
	}
	write(t, filepath.Join(dir, "gp", "gpr", "head.test"), "#!/bin/sh\nexit 1\n")
	if _, err := run(); err == nil {
		t.Error("a benchmark that fails goes unnoticed")
	}
}
