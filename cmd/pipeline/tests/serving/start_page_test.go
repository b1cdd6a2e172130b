package serving

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// A started is `pipeline start` in a process of its own.
type started struct {
	*commandtest.Bed
	cmd     *exec.Cmd
	stderr  *bytes.Buffer
	address string // with the token
}

// start starts the start page, of a user whose home is a folder of the testbed.
func start(l *commandtest.Bed, args ...string) *started {
	l.Helper()
	return startWith(l, append([]string{"--no-browser"}, args...)...)
}

func startWith(l *commandtest.Bed, args ...string) *started {
	l.Helper()
	cmd, stderr := l.Process(l.Path("cache"), append([]string{"start"}, args...)...)
	cmd.Env = append(cmd.Env, "HOME="+l.Path("home"), "XDG_CONFIG_HOME="+l.Path("home", ".config"))
	must.Do(l, os.MkdirAll(l.Path("home"), 0o755))
	stdout := must.Get(cmd.StdoutPipe())(l)
	must.Do(l, cmd.Start())
	l.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		l.Fatalf("the program says nothing: %s", stderr)
	}
	return &started{l, cmd, stderr, strings.Fields(line)[1]}
}

// ends waits for the end of the program, which must be a good one.
func (s *started) ends() {
	s.Helper()
	if err := s.cmd.Wait(); err != nil {
		s.Errorf("%v: %s", err, s.stderr)
	}
}

// tabTo presses Tab until an element has the focus.
func tabTo(p *testenv.Page, t testing.TB, selector string) {
	t.Helper()
	for range 60 {
		var there bool
		p.Eval(fmt.Sprintf("document.activeElement.matches(%q)", selector), &there)
		if there {
			return
		}
		p.Press("Tab")
	}
	t.Fatalf("Tab does not reach %s", selector)
}

// types types a text into the field that has the focus.
func types(p *testenv.Page, text string) { p.Press(strings.Split(text, "")...) }

// look checks how the page looks in windows of every size, light and dark: nothing is cut off or
// wider than the screen, and axe-core finds nothing serious. With PAGE_SHOTS set to a folder it writes
// screenshots too.
func (s *started) look(p *testenv.Page, axe, name string) {
	s.Helper()
	for _, size := range [][2]int{{320, 568}, {640, 400}, {390, 844}, {1280, 800}} {
		p.View(size[0], size[1], false)
		if cut := p.Cut(); len(cut) > 0 {
			s.Errorf("%s at %v:\n%s", name, size, strings.Join(cut[:min(6, len(cut))], "\n"))
		}
	}
	for _, width := range []int{390, 1280} {
		for _, dark := range []bool{width < 1000, width > 1000} {
			p.View(width, 844, dark)
			var over int
			p.Eval("Math.max(document.documentElement.scrollWidth - innerWidth, "+
				"...[...document.querySelectorAll('main, dialog[open]')].map((e) => e.scrollWidth - e.clientWidth))",
				&over)
			if over > 0 {
				s.Errorf("%s is %d pixels too wide at %d", name, over, width)
			}
			if dir := os.Getenv("PAGE_SHOTS"); dir != "" {
				s.Write(filepath.Join(dir, fmt.Sprintf("start-%s-%d-%t.png", name, width, dark)), p.Screenshot())
			}
			if axe == "" || width > 1000 || dark != (name == "new") { // it takes a second
				continue
			}
			p.Eval(axe, nil)
			var found []string
			p.Eval(`axe.run().then((r) => r.violations`+
				`.filter((v) => v.impact === "serious" || v.impact === "critical")`+
				`.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 150))))`, &found)
			if len(found) > 0 {
				s.Errorf("%s at %d:\n%s", name, width, strings.Join(found[:min(5, len(found))], "\n"))
			}
		}
	}
}

// TestLateAnswer: what the page was told before an export began is not taken for its end, so
// that the page does not go to the photos, as after the task before; and after an answer that was
// lost it asks again.
func TestLateAnswer(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), 32, 4, "a", "b")
	s := start(l)
	s.well("v1/begin", map[string]any{"dir": l.Path("a.project"), "images": images, "network": testenv.Small(t),
		"with": "folders", "examples": images})
	page := testenv.Open(t, s.address)
	page.Wait("document.querySelector('[name=format]') !== null")
	page.Eval(`(() => {
		const real = fetch, later = setTimeout;
		window.setTimeout = (what, ms) => later(what, Math.min(ms, 100));
		let begin, asked = 0;
		const begun = new Promise((yes) => { begin = yes; });
		window.fetch = async (path, ...rest) => {
			const turn = String(path).includes("state") ? asked++ : -1;
			const answer = await real(path, ...rest);
			if (turn === 0) {
				await begun; // told before the export, heard after it
			} else if (turn === 1) {
				begin();
				throw new TypeError("no connection");
			}
			return answer;
		};
		dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
	})()`, nil)
	page.Eval("document.querySelector('#export [type=submit]').click()", nil)
	page.Wait("document.getElementById('task-title').textContent === 'Labelling all photos'")
	page.Wait("document.getElementById('task-state').textContent === 'Done.'")
	page.Click("#stop")
	page.Wait("document.getElementById('ask').open")
	page.Press("Enter")
	page.Wait("document.getElementById('main').textContent.includes('has ended')")
	s.ends()
}

// TestStartPage: from the start page to exported labels, without a command and with keys
// alone; then the project is opened again, from the list and by its name, and everything is
// as it was.
func TestStartPage(t *testing.T) {
	l := commandtest.New(t)
	axe := testenv.Axe(t)
	truth := drawn(l, l.Path("photos"), 8, "kiwi", "lime")
	began := time.Now()
	s := start(l)
	page := testenv.Open(t, s.address)
	page.View(1280, 844, false)
	page.Wait("document.querySelector('#networks input:checked') !== null")

	// The folder of the photos, in the dialog.
	tabTo(page, t, "#images-choose")
	page.Press("Enter")
	page.Wait("document.querySelector('#folders').open && document.activeElement.id === 'folders-path'")
	types(page, l.Dir)
	page.Press("Enter")
	page.Wait("document.querySelector('#folders-list [title=photos]') !== null")
	s.look(page, axe, "folders")
	tabTo(page, t, "#folders-list [title=photos]")
	page.Press("Enter")
	page.Wait("document.getElementById('folders-about').textContent.startsWith('About 16 photos')")
	tabTo(page, t, "#folders-yes")
	page.Press("Enter")
	page.Wait("document.getElementById('images-count').textContent.startsWith('About 16 photos')")
	page.Wait(fmt.Sprintf("document.getElementById('dir').value === %q", l.Path("home", "photos.project")))
	s.look(page, axe, "new")
	tabTo(page, t, "#begin")
	page.Press("Enter")

	// Its page: two classes are named.
	page.Wait("document.querySelector('.tile.current') !== null")
	p := &person{t, page, truth}
	named := map[string]bool{}
	for len(named) < 2 {
		class := truth[p.current().Name]
		types(page, class)
		page.Press("Shift+Enter")
		named[class] = true
		page.Wait(fmt.Sprintf("document.getElementById('undo').title.endsWith(%q)", class))
		p.settles()
	}
	page.Eval("document.getElementById('title').focus()", nil)
	tabTo(page, t, "#export")
	page.Press("Enter")

	// Everything is labelled.
	page.Wait("document.activeElement?.id === 'export-title'")
	s.look(page, axe, "project")
	tabTo(page, t, "[name=format][value=coco]")
	page.Press(" ")
	tabTo(page, t, "#export [type=submit]")
	page.Press("Enter")
	page.Wait("document.getElementById('task-state').textContent === 'Done.'")
	t.Logf("%.1f s from the start to exported labels", time.Since(began).Seconds())
	s.look(page, "", "done")
	out := l.Path("home", "photos.project", "exports")
	classes := commandtest.Column(t, l.Table(out, "labels.csv"), "label")
	if len(classes) != 16 || !slices.Contains(classes, "kiwi") || !slices.Contains(classes, "lime") ||
		!l.Exists(out, "coco") {
		t.Errorf("exported labels: %q", classes)
	}
	want := l.Read(out, "labels.csv")

	// Closed, opened from the list, and stopped.
	page.Click("#project-close")
	page.Wait("document.querySelector('#recent-list button:enabled b')?.textContent === 'photos'")
	s.look(page, "", "recent")
	page.Click("#recent-list button")
	page.Wait("document.getElementById('quality')?.textContent.includes('decided one by one')")
	page.Eval("void setTimeout(() => history.back())", nil)
	page.Wait("document.getElementById('project')?.checkVisibility()")
	page.Click("#stop")
	page.Wait("document.getElementById('ask').open")
	page.Press("Enter")
	page.Wait("document.getElementById('main').textContent.includes('has ended')")
	s.ends()

	// A copy of the project finds the photos where somebody says they are.
	must.Do(t, os.Rename(l.Path("photos"), l.Path("elsewhere")))
	s = start(l, l.Path("home", "photos.project"))
	page.Go(s.address)
	page.Wait("document.getElementById('lost').checkVisibility()")
	s.look(page, "", "lost")
	page.Click("#lost-choose")
	page.Wait("document.querySelector('#folders').open && document.activeElement.id === 'folders-path'")
	page.Wait("document.getElementById('folders-path').value !== ''")
	var near string
	page.Eval("document.getElementById('folders-path').value", &near)
	if parent := must.Get(filepath.EvalSymlinks(filepath.Dir(l.Path("photos"))))(t); near != parent {
		t.Errorf("the chooser begins in %s, and the photos were in %s", near, l.Path("photos"))
	}
	types(page, l.Path("elsewhere"))
	page.Press("Enter")
	page.Wait("document.getElementById('folders-about').textContent.startsWith('About 16 photos')")
	page.Click("#folders-yes")
	page.Wait("document.getElementById('quality')?.textContent.startsWith('2 decided one by one')")

	// Another project is merged into it.
	must.Do(t, os.CopyFS(l.Path("other.project"), os.DirFS(l.Path("home", "photos.project"))))
	page.Go(s.address)
	page.Wait("document.getElementById('project').checkVisibility()")
	page.Click("#project-merge")
	page.Wait("document.querySelector('#folders').open && document.activeElement.id === 'folders-path'")
	types(page, l.Path("other.project"))
	page.Press("Enter")
	page.Wait("!document.getElementById('folders-yes').disabled")
	page.Click("#folders-yes")
	page.Wait("document.getElementById('ask').open")
	s.look(page, "", "merge")
	text := "document.getElementById('ask-body').textContent"
	page.Wait(text + ".includes('keep the label of this project, photos') && " +
		text + ".includes('take the label of the project you are adding, other')")
	page.Press("Enter") // nothing is chosen, so nothing happens
	page.Wait("document.getElementById('ask').open && document.getElementById('ask-yes').disabled && " +
		"document.querySelector('#ask input:checked') === null && document.querySelector('#ask .primary') === null")
	page.Click("#ask input[value='']")
	page.Click("#ask-yes")
	page.Wait("document.getElementById('task-lines').textContent === 'merged 0 photos that had no label here, " +
		"2 have the same label'")

	// The other one is opened in another window: exports do not go into the folder of the first.
	s.well("v1/open", map[string]any{"dir": l.Path("other.project"), "images": ""})
	page.Eval("void dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))", nil)
	page.Wait(fmt.Sprintf("document.getElementById('export-out').value === %q", l.Path("other.project", "exports")))
	must.Do(t, s.cmd.Process.Signal(syscall.SIGINT))
	_ = s.cmd.Wait()
	model := l.Path("home", "photos.project", "photos.model")
	l.Must("label", model, "--images", l.Path("elsewhere"), "--out", l.Path("labels"))
	l.Same("the command", want, l.Path("labels", "labels.csv"))
}
