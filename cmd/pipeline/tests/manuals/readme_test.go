//go:build unix

package manuals

import (
	"bufio"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

const readme = "../../../../README.md"

// mostLines is how long the README may be.
const mostLines = 110

// fencedBlock is a block of code in Markdown.
var fencedBlock = regexp.MustCompile("(?ms)^```(?:sh)?\n(.*?)^```")

// commandsIn returns the command lines of the fenced blocks of a Markdown file that
// start one of the programs.
func commandsIn(text string, programs ...string) (commands []string) {
	for _, block := range fencedBlock.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", " ")) {
			if program, _, _ := strings.Cut(strings.TrimSpace(line), " "); slices.Contains(programs, program) {
				commands = append(commands, strings.TrimSpace(line))
			}
		}
	}
	return commands
}

// standIns are the commands of the README that need the network or install something,
// and what is run instead. $CLONE is this repository.
var standIns = map[string]string{
	// Its set-up is that of these tests; what it shows is run.
	"make demo": "make -n -C $CLONE demo | grep 'pipeline demo --out out/demo$' && pipeline demo --out out/demo",
	// It runs this test.
	"make test": "make -n -C $CLONE test | grep ' test .*\\./\\.\\.\\.$'",
	// It builds what runs here.
	"go install ./cmd/pipeline": "test -f $CLONE/cmd/pipeline/main.go && pipeline --version",
	// It fetches 18 MB; the tests of the command set up from a folder.
	"pipeline setup": "pipeline setup --help",
}

// TestReadme runs every command of the README in its order, as a user would type it.
// A server is stopped as soon as it serves.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many commands")
	}
	l := commandtest.New(t)
	text := string(l.Read(readme))
	if n := strings.Count(text, "\n"); n > mostLines {
		t.Errorf("the README has %d lines, more than %d", n, mostLines)
	}
	l.Photos(l.Path("photos", "train"), commandtest.SmallSide, 5, "dalmatian", "okapi", "heron", "koala", "lynx")
	l.Photos(l.Path("photos", "new"), commandtest.SmallSide, 5, "quokka")
	l.Photos(l.Path("photos", "holiday"), commandtest.SmallSide, 3, "okapi", "quokka", "teapot")
	env := append(l.OnPathAfterDemo(), "CLONE="+testenv.ModuleRoot(t), "MAKEFLAGS=", "PIPELINE_SERVE_ADDR=127.0.0.1:0")
	known := 0
	commands := commandsIn(text, "pipeline", "go", "make")
	for i, first := range []string{"make demo ", "make test "} { // which do all the set-up
		if len(commands) <= i || !strings.HasPrefix(commands[i], first) {
			t.Errorf("command %d of the README is not %s: %q", i+1, first, commands)
		}
	}
	for _, command := range commands {
		command, _, _ = strings.Cut(command, "  ") // a comment follows
		if instead, ok := standIns[command]; ok {
			command = instead
			known++
		}
		cmd := exec.Command("bash", "-c", "set -o pipefail; "+command)
		cmd.Dir, cmd.Env = l.Dir, env
		if strings.HasPrefix(command, "pipeline serve") {
			serveOnce(l, cmd)
			continue
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	if known != len(standIns) {
		t.Errorf("the README has %d of the %d commands that have stand-ins", known, len(standIns))
	}
	for _, file := range []string{"animals.model", "labels/labels.csv", "look.csv"} {
		if !l.Exists(l.Path(file)) {
			t.Errorf("%s was not written", file)
		}
	}
	makefile := string(l.Read("../../../../Makefile"))
	for _, m := range regexp.MustCompile("`make ([a-z-]+)").FindAllStringSubmatch(text, -1) {
		if !strings.Contains(makefile, "\n"+m[1]+":") {
			t.Errorf("the README speaks of make %s, which is no target", m[1])
		}
	}
}

// serveOnce starts a server, waits for its address, and interrupts it.
func serveOnce(l *commandtest.Bed, cmd *exec.Cmd) {
	l.Helper()
	cmd.Args[2] = strings.Replace(cmd.Args[2], "pipeline serve", "exec pipeline serve", 1) // gets the signal
	out := must.Get(cmd.StdoutPipe())(l)
	must.Do(l, cmd.Start())
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "open http://127.0.0.1:") {
			_ = cmd.Process.Signal(syscall.SIGINT)
		}
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != command.ExitInterrupted &&
		cmd.ProcessState.ExitCode() != command.ExitDone {
		l.Errorf("%s: %s", cmd.Args[2], cmd.ProcessState)
	}
}

// TestCommandsInDocs: every command of this program in a block of a Markdown file
// exists, with its flags and the number of its arguments.
func TestCommandsInDocs(t *testing.T) {
	n := 0
	for _, top := range []string{"../../../../README.md", "../../../../docs", "../../../../deploy",
		"../../../../models", "../../../../configs", "../../../../bench"} {
		must.Do(t, filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(file) != ".md" || strings.Contains(file, "docs/cli/") {
				return err
			}
			text, err := os.ReadFile(file)
			for _, command := range commandsIn(string(text), "pipeline") {
				if strings.Contains(command, "…") {
					continue // abbreviated
				}
				command, _, _ = strings.Cut(regexp.MustCompile(`(['"]).*?['"]`).ReplaceAllString(command, "X"), "#")
				command, _, _ = strings.Cut(command, "|")
				command, _, _ = strings.Cut(command, "&&")
				if !t.Run(filepath.Base(file),
					func(t *testing.T) { commandtest.CheckExample(t, strings.Fields(command)[1:]) }) {
					t.Logf("%s: %s", file, command)
				}
				n++
			}
			return err
		}))
	}
	if n < 50 {
		t.Errorf("only %d commands were found", n)
	}
}
