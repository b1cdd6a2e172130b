package testenv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// outcome records how a test would have ended.
type outcome struct {
	testing.TB
	failed, skipped bool
}

func (o *outcome) Helper()               {}
func (o *outcome) Fatalf(string, ...any) { o.failed = true }
func (o *outcome) Skipf(string, ...any)  { o.skipped = true }

func TestMissingFailsInCI(t *testing.T) {
	for ci, want := range map[string]outcome{"true": {failed: true}, "1": {failed: true}, "": {skipped: true}} {
		t.Setenv("CI", ci)
		got := outcome{}
		Missing(&got, "needs %s", "something")
		if got.failed != want.failed || !want.failed && got.skipped != want.skipped {
			t.Errorf("CI=%q: %+v", ci, got)
		}
	}
}

func TestMissingPrograms(t *testing.T) {
	t.Setenv("CI", "true")
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	t.Setenv(envPython, nowhere)
	t.Setenv(envBrowser, nowhere)
	for name, find := range map[string]func(testing.TB) string{
		"Python":  func(tb testing.TB) string { return Python(tb) },
		"browser": browser,
	} {
		got := outcome{}
		if find(&got); !got.failed {
			t.Errorf("%s: a program that does not exist was accepted", name)
		}
	}
}

func TestPythonNeedsItsModules(t *testing.T) {
	python := Python(t, "numpy", "scipy", "onnx")
	t.Setenv("CI", "true")
	t.Setenv(envPython, python)
	got := outcome{}
	if Python(&got, "no_such_module"); !got.failed {
		t.Error("a missing module was accepted")
	}
}

func TestVisitRunsScriptsAndFrames(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	page := filepath.Join(t.TempDir(), "page.html")
	const text = `<p id="p"></p><iframe srcdoc="<b>2</b>" ` +
		`onload="p.textContent = 1 + this.contentDocument.body.textContent"></iframe>`
	must.Do(t, os.WriteFile(page, []byte(text), 0o600))
	if got := Visit(t, "file://"+page); !strings.Contains(got, `<p id="p">12</p>`) {
		t.Errorf("the page is %s", got)
	}
}
