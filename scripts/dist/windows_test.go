package dist_test

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestStartPageOfWindows: a browser goes from the start page of pipeline.exe to exported
// labels. make windows-test runs it under Wine, with the path of the program in
// PIPELINE_WINDOWS and its folder as that of the work: the demo's photos are in it.
func TestStartPageOfWindows(t *testing.T) {
	exe := os.Getenv("PIPELINE_WINDOWS")
	if exe == "" {
		t.Skip("make windows-test sets PIPELINE_WINDOWS")
	}
	work := filepath.Dir(filepath.Dir(exe))
	onDrive := func(name string) string { return `Z:` + strings.ReplaceAll(filepath.Join(work, name), "/", `\`) }
	cmd := exec.Command(os.Getenv("WINE"), exe, "start", "--no-browser")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "PIPELINE_") })
	cmd.Stderr = os.Stderr
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	defer cmd.Process.Kill()
	began := time.Now()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	page := testenv.Open(t, strings.Fields(line)[1])
	page.Wait("document.querySelector('#networks input:checked') !== null")
	for id, path := range map[string]string{"images": "demo/images/photos", "dir": "desk.project"} {
		path := must.Get(json.Marshal(onDrive(path)))(t)
		page.Eval(fmt.Sprintf(`(() => { const field = document.getElementById(%q);
			field.value = %s; field.dispatchEvent(new Event("change")); })()`, id, path), nil)
	}
	page.Wait("document.getElementById('images-count').textContent.startsWith('About ')")
	page.Click("#begin")
	page.Wait("document.querySelector('.tile.current img')?.complete")
	for i, class := range []string{"cat", "dog"} {
		page.Wait("document.getElementById('stage').getAttribute('aria-busy') === 'false'")
		page.Press(strings.Split(class, "")...)
		page.Press("Shift+Enter")
		page.Wait(fmt.Sprintf(
			"document.getElementById('quality').textContent.startsWith('%d decided one by one')", i+1))
	}
	page.Click("#export")
	page.Wait("document.activeElement?.id === 'export-title'")
	page.Eval("document.querySelector('#export [type=submit]').focus()", nil)
	page.Press("Enter")
	page.Wait("document.getElementById('task-state').textContent === 'Done.'")
	t.Logf("%.0f s from the start to exported labels", time.Since(began).Seconds())
	page.Click("#stop")
	page.Wait("document.getElementById('ask').open")
	page.Press("Enter")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	file := must.Get(os.Open(filepath.Join(work, "desk.project", "exports", "labels.csv")))(t)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) < 100 || !slices.Contains(rows[0], "label") {
		t.Errorf("%d labels: %v", len(rows), err)
	}
}
