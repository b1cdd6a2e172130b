package serving

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// A walk is what one person decided, on the page and with commands, by the content of the
// photos: a class, several joined by ";", or "-" where a photo was set aside.
type walk struct {
	*person
	server  *served
	decided map[[32]byte]string
	files   map[string][32]byte
	photos  string
}

// TestOneTruth walks from a folder to exports and back: what a person decides on the page rules
// whatever commands write, while a server runs and after it was killed, and comes back from
// every format as it left.
func TestOneTruth(t *testing.T) {
	commandtest.TrainedNetwork(t)
	l := commandtest.New(t)
	const each = 60
	w := &walk{decided: map[[32]byte]string{}, files: map[string][32]byte{}, photos: l.Path("photos")}
	truth := drawn(l, w.photos, each, "kiwi", "lime", "plum", "fig", "pear")
	for name := range truth {
		w.files[name] = sha256.Sum256(l.Read(w.photos, name))
	}
	w.server = serve(l, len(truth), l.Path("m.model"), "--images", w.photos)
	w.person = w.server.sit(truth)
	w.decidesMany(60)
	w.changesItsMind()
	w.looksThrough()
	w.setsAside()

	l.Photos(l.Path("more"), 32, 5, "mango")
	l.Must("learn", w.server.model, "--images", l.Path("more"))
	w.moves()
	_ = w.server.cmd.Process.Kill()
	_ = w.server.cmd.Wait()
	w.comesBack(l)
}

// decidesMany selects what is of one class on the screen, and names it, until n are decided.
func (w *walk) decidesMany(n int) {
	for len(w.decided) < n {
		w.settles()
		of := map[string][]string{}
		for _, t := range w.look().Tiles {
			if _, done := w.decided[w.files[t.Name]]; !done && t.Sure != "by you" {
				of[w.truth[t.Name]] = append(of[w.truth[t.Name]], t.Name)
			}
		}
		classes := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
			return len(of[b]) - len(of[a]) + strings.Compare(a, b)
		})
		if len(classes) == 0 {
			w.Fatalf("after %d decisions the page shows nothing to decide", len(w.decided))
		}
		names := of[classes[0]][:min(8, len(of[classes[0]]))]
		w.choose(names...)
		w.name(classes[0])
		for _, name := range names {
			w.decided[w.files[name]] = classes[0]
		}
	}
	w.agrees("after deciding")
}

// changesItsMind undoes and redoes, renames a class and merges two.
func (w *walk) changesItsMind() {
	before := w.exported()
	w.press("Control+z")
	if undone := w.exported(); len(undone) >= len(before) {
		w.Errorf("undo leaves %d of %d labels", len(undone), len(before))
	}
	w.press("Control+y")
	counts := map[string]int{}
	for _, class := range w.decided {
		counts[class]++
	}
	classes := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return counts[b] - counts[a] + strings.Compare(a, b)
	})
	from, into := classes[len(classes)-1], classes[0]
	w.openClass(from)
	w.page.Click("#lead-tools button:nth-child(2)")
	w.page.Wait("document.getElementById('ask').open")
	w.page.Eval(fmt.Sprintf("document.getElementById('into').value = %q", into), nil)
	w.click("#ask-yes")
	w.openClass(into)
	w.rename("fruit; all of it")
	for id, class := range w.decided {
		if class == from || class == into {
			w.decided[id] = "fruit; all of it"
		}
	}
	w.agrees("after merging and renaming")
}

// looksThrough accepts many, finds them in the history, confirms one, and takes back the rest,
// which undo gives back as one.
func (w *walk) looksThrough() {
	w.open("check", "To check")
	if !w.acceptsMany() {
		w.Fatal("nothing could be accepted")
	}
	accepted := len(w.exported())
	w.settles()
	w.page.Press("<")
	w.page.Wait("document.querySelector('#history-list summary')")
	w.page.Click("#history-list summary")
	w.page.Wait("document.querySelector('#history-list button[aria-label^=\"Look through\"]')")
	w.page.Click("#history-list button[aria-label^='Look through']")
	w.page.Wait("document.getElementById('heading').textContent === 'Accepted in bulk'")
	w.settles()
	one := w.look().Tiles[0]
	w.choose(one.Name)
	w.name(one.What)
	w.decided[w.files[one.Name]] = one.What
	w.settles()
	if now := w.look(); slices.ContainsFunc(now.Tiles, func(t tile) bool { return t.Name == one.Name }) ||
		len(w.exported()) != accepted {
		w.Errorf("%s was confirmed, and of %d labels %d are left", one.Name, accepted, len(w.exported()))
	}
	w.click("#lead-tools button:first-child")
	w.agrees("after taking back what was accepted")
	w.press("Control+z")
	if n := len(w.exported()); n != accepted {
		w.Errorf("undoing that leaves %d labels, want %d", n, accepted)
	}
	w.press("Control+y")
	w.agrees("after taking it back again")
}

// setsAside says of photos that they are not usable, for later and of several things, and has
// one forgotten.
func (w *walk) setsAside() {
	w.open("check", "To check")
	for _, aside := range []struct{ as, keys string }{
		{"-", "-"}, {"later", "."}, {"fox;owl", "& o w l Shift+Enter f o x Shift+Enter Enter"},
	} {
		one := w.current().Name
		w.choose(one) // so that no new order comes between looking and deciding
		w.press(strings.Fields(aside.keys)...)
		w.settles()
		w.decided[w.files[one]] = aside.as
	}
	w.openClass("fruit; all of it")
	w.page.Press("End")
	gone := w.current().Name
	w.page.Click(on(gone) + " .tick")
	w.page.Click("#forget")
	w.page.Wait("document.getElementById('ask').open")
	w.page.Click("#ask-yes")
	w.page.Wait("document.getElementById('ask-title').textContent === '1 photo forgotten'")
	w.page.Press("Escape")
	delete(w.decided, w.files[gone])
	w.agrees("after setting aside")
}

// agrees compares what the page exports.
func (w *walk) agrees(when string) {
	got := map[[32]byte]string{}
	for _, row := range w.exported() {
		got[w.files[row[0]]] = row[1]
		if row[2] != "person" {
			w.Errorf("%s %s is by %s", when, row[0], row[2])
		}
	}
	want := map[[32]byte]string{}
	for id, class := range w.decided {
		if class != "-" && class != "later" {
			want[id] = cellOf(class)
		}
	}
	if !maps.Equal(got, want) {
		w.Fatalf("%s the page exports %d labels, want %d", when, len(got), len(want))
	}
}

// cellOf is how a table writes a class: its semicolon would separate two.
func cellOf(class string) string { return strings.ReplaceAll(class, "; ", "%3B ") }

// moves renames every third photo, and moves every fourth into a folder.
func (w *walk) moves() {
	moved := map[string][32]byte{}
	for i, name := range slices.Sorted(maps.Keys(w.files)) {
		to := name
		if i%3 == 0 {
			to = "renamed " + name
		}
		if i%4 == 0 {
			to = filepath.Join("roll "+name[:1], to)
		}
		moved[filepath.ToSlash(to)] = w.files[name]
		must.Do(w, os.MkdirAll(filepath.Dir(filepath.Join(w.photos, to)), 0o755))
		must.Do(w, os.Rename(filepath.Join(w.photos, name), filepath.Join(w.photos, to)))
	}
	w.files = moved
}

// comesBack labels in every format, teaches the model what each says, and labels again.
func (w *walk) comesBack(l *commandtest.Bed) {
	formats := map[string]string{"csv": "labels.csv", "jsonl": "labels.jsonl", "parquet": "labels.parquet",
		"coco": "coco/instances.json", "label-studio": "label-studio/tasks.json",
		"camtrap-dp": "camtrap-dp/observations.csv", "imagefolder": "imagefolder/metadata.jsonl"}
	label := func(model, out string) {
		l.Must("label", model, "--images", w.photos, "--out", out, "--set", "label.file_times=true",
			"--format", strings.Join(slices.Sorted(maps.Keys(formats)), ","))
	}
	out, again := l.Path("out"), l.Path("again")
	label(w.server.model, l.Path("unsaved")) // the last decisions are only in the journal
	w.rules(l, l.Path("unsaved"), "person")
	l.Must("learn", w.server.model, "--list", filepath.Join(l.Path("unsaved"), "labels.csv"), "--images", w.photos)
	label(w.server.model, out)
	w.rules(l, out, "person")
	for _, format := range slices.Sorted(maps.Keys(formats)) {
		args := []string{"learn", w.server.model, "--list", filepath.Join(out, formats[format])}
		if format != "imagefolder" { // which has the photos, too
			args = append(args, "--images", w.photos)
		}
		l.Must(args...)
		if n := bytes.Count(l.Read(w.server.model+".journal"), []byte(`"do":"import"`)); n != 1 { // the folder more
			w.Fatalf("after reading back %s the journal has %d imports, want 1", format, n)
		}
	}
	label(w.server.model, again)
	for _, file := range formats {
		if !bytes.Equal(l.Read(out, file), l.Read(again, file)) {
			w.Errorf("%s is not the same after it was read back", file)
		}
	}
	for i, format := range []string{"csv", "label-studio", "coco"} {
		w.another(l, i, filepath.Join(out, formats[format]))
	}
	back := l.Path("back.model")
	l.Must("train", "--list", filepath.Join(out, "labels.csv"), "--images", w.photos, "--out", back, "--classifier",
		"plda")
	l.Must("label", back, "--images", w.photos, "--out", l.Path("back"))
	w.rules(l, l.Path("back"), "list")
}

// another teaches a model, which begins where that of the server did, what a list says, and finds all
// decisions in it, also what was set aside.
func (w *walk) another(l *commandtest.Bed, number int, list string) {
	model, out := l.Path(fmt.Sprintf("another %d.model", number)), l.Path(fmt.Sprintf("another %d", number))
	first, _, _ := bytes.Cut(l.Read(w.server.model+".journal"), []byte("\n"))
	l.Write(model+".journal", append(first, '\n'))
	l.Write(model+".base", l.Read(w.server.model+".base"))
	l.Must("learn", model, "--list", list, "--images", w.photos)
	l.Must("label", model, "--images", w.photos, "--out", out)
	w.rules(l, out, "another")
}

// rules compares a table of labels with what was decided. What was set aside a model that was
// trained on a list does not know.
func (w *walk) rules(l *commandtest.Bed, out, who string) {
	rows := l.Table(out, "labels.csv")
	labels, by := commandtest.Column(w.person, rows, "label"), commandtest.Column(w.person, rows, "by")
	if len(labels) != len(w.files) {
		w.Errorf("%d of %d photos are labelled", len(labels), len(w.files))
	}
	n := 0
	for i, path := range commandtest.Column(w.person, rows, "path") {
		class, ok := w.decided[w.files[path]]
		aside, who := class == "-" || class == "fox;owl", who
		switch {
		case who == "list" && (aside || class == "later"), who == "another" && class == "later":
			ok = false
		case who == "another" && !aside:
			who = "list"
		case class == "later":
			class, who = "-", "later"
		case who == "another":
			who = "person"
		}
		switch want := strings.TrimSuffix(cellOf(class), "-"); {
		case !ok && by[i] != "":
			w.Errorf("%s: %s is %q by %s, and nobody decided", filepath.Base(out), path, labels[i], by[i])
		case ok && (labels[i] != want || by[i] != who):
			w.Errorf("%s: %s is %q by %q, want %q by %s", filepath.Base(out), path, labels[i], by[i], want, who)
		case ok:
			n++
		}
	}
	if n < 55 {
		w.Errorf("%s: only %d decisions are there", filepath.Base(out), n)
	}
}
