//go:build unix

package photos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// A menagerie is a folder of odd files and the expected result for each.
type menagerie struct {
	*commandtest.Bed
	root    string
	good    []string          // paths that get a label, escaped as they are written
	bad     map[string]string // path to a word of the reason
	skipped map[string]int
}

// TestHostileFolder: every good image is labelled, every bad one explained,
// the rest counted, and nothing ends the run; in this process and as a real
// command.
func TestHostileFolder(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	m := &menagerie{Bed: l, root: l.Path("zoo"), bad: map[string]string{}, skipped: map[string]int{}}
	m.goodImages()
	m.goldens()
	m.oddNames()
	m.badImages()
	m.damagedPalettes()
	m.links()
	m.specials(t)
	m.noImages()
	m.unreadable()
	args := []string{"label", model, "--images", m.root, "--out", l.Path("out"), "--format", "csv,jsonl"}

	l.Expect(command.ExitPartial, args...)
	m.check(t, l.Path("out"))

	want := l.Read(l.Path("out", "labels.csv"))
	cmd, stderr := l.Process(l.Path("second cache"), args...)
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != command.ExitPartial {
		t.Fatalf("as a process: %v\n%s", err, stderr)
	}
	if strings.Contains(stderr.String(), "goroutine ") {
		t.Errorf("it panicked:\n%s", stderr)
	}
	m.check(t, l.Path("out"))
	l.Same("the real command", want, l.Path("out", "labels.csv"))
	l.Must("label", model, "--images", m.root, "--list", l.Path("out", "labels.csv"), "--out", l.Path("listed"))
	l.Same("labels.csv as a list", want, l.Path("listed", "labels.csv"))
	m.otherCommands(model)
}

// otherCommands must survive the folder too.
func (m *menagerie) otherCommands(model string) {
	m.Helper()
	m.Expect(command.ExitPartial, "embed", "--images", m.root, "--out", m.Path("features"))
	if rows := m.Table(m.Path("features", "samples.csv")); len(rows)-1 != len(m.good) {
		m.Errorf("embed: %d rows, want %d", len(rows)-1, len(m.good))
	}
	if rows := m.Table(m.Path("features", "errors.csv")); len(rows)-1 != len(m.bad) {
		m.Errorf("embed: %d errors, want %d", len(rows)-1, len(m.bad))
	}
	m.Expect(command.ExitPartial, "learn", model, "--images", m.root)
	m.Must("eval", model, "--features", m.Path("features"))
	m.Expect(command.ExitPartial, "eval", model, "--images", m.root, "--report", m.Path("report"))
}

func (m *menagerie) check(t *testing.T, out string) {
	t.Helper()
	rows := m.Table(out, "labels.csv")
	labelled := commandtest.Column(t, rows, "path")
	slices.Sort(m.good)
	for _, path := range m.good {
		if !slices.Contains(labelled, path) {
			t.Errorf("%q is good and has no label", path)
		}
	}
	for _, path := range labelled {
		if !slices.Contains(m.good, path) {
			t.Errorf("%q has a label", path)
		}
	}
	reasons := map[string]string{}
	for _, row := range m.Table(out, "errors.csv")[1:] {
		reasons[row[0]] = row[1]
	}
	for path, word := range m.bad {
		if reason, ok := reasons[path]; !ok || !strings.Contains(strings.ToLower(reason), word) {
			t.Errorf("%q: reason %q, want %q", path, reason, word)
		}
		delete(reasons, path)
	}
	for path, reason := range reasons {
		t.Errorf("%q is no error: %s", path, reason)
	}
	m.checkSummary(t, out)
	t.Logf("%d good, %d bad, skipped %v", len(m.good), len(m.bad), m.skipped)
}

func (m *menagerie) checkSummary(t *testing.T, out string) {
	t.Helper()
	s := m.Object(out, "summary.json")
	if s["labelled"] != float64(len(m.good)) || s["failed"] != float64(len(m.bad)) {
		t.Errorf("summary: labelled %v, failed %v; want %d and %d", s["labelled"], s["failed"], len(m.good), len(m.bad))
	}
	skipped := map[string]int{}
	for kind, n := range s["skipped"].(map[string]any) {
		skipped[kind] = int(n.(float64))
	}
	if !maps.Equal(skipped, m.skipped) {
		t.Errorf("skipped %v, want %v", skipped, m.skipped)
	}
}

// TestHostileLists: lists that lead outside, to nothing, or to nonsense.
func TestHostileLists(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	for name, text := range map[string]string{
		"outside": "../../../../../../etc/passwd\nkiwi/000.jpg\n",
		"missing": "nothing.jpg\nkiwi/000.jpg\n",
		"folder":  "kiwi\nkiwi/000.jpg\n",
		"bytes":   "\x00\xfe\xff\nkiwi/000.jpg\n",
	} {
		l.Write(l.Path(name), []byte(text))
		out := l.Path(name + "-out")
		l.Expect(command.ExitPartial, "label", model, "--images", images, "--list", l.Path(name), "--out", out)
		if rows := l.Table(out, "labels.csv"); len(rows) != 2 {
			t.Errorf("%s: labels %q", name, rows)
		}
		if rows := l.Table(out, "errors.csv"); len(rows) != 2 || !strings.Contains(fmt.Sprint(rows[1]), "line 1") {
			t.Errorf("%s: errors %q", name, rows)
		}
	}
	l.Write(l.Path("empty"), nil)
	l.Refused(command.ExitFailed, []string{"no images"}, "label", model, "--images", images, "--list", l.Path("empty"),
		"--out", l.Path("out"))
}
