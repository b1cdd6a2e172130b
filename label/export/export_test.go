package export_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/export"
	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
)

var all = []string{"imagefolder", "coco", "label-studio", "camtrap-dp"}

// lists are the files by which each format is read back.
var lists = map[string]string{
	"imagefolder": "imagefolder/metadata.jsonl", "coco": "coco/instances.json",
	"label-studio": "label-studio/tasks.json", "camtrap-dp": "camtrap-dp/observations.csv",
}

// TestFormats: each format that label offers is written, tried here and read back, and
// described.
func TestFormats(t *testing.T) {
	tables := []string{"csv", "jsonl", "parquet", "xlsx"}
	if want := slices.Concat(tables, all); !slices.Equal(label.Formats(), want) {
		t.Errorf("label.Formats has %q, the tests here %q", label.Formats(), want)
	}
	text := func(file string) string {
		return string(must.Get(os.ReadFile(filepath.FromSlash(file)))(t))
	}
	page := text("../../docs/formats-results.md")
	for _, place := range []string{
		"doc.go", "../config.go", "../../configs/reference.yaml", "../../cmd/pipeline/command/label.go",
		"../../serve/start/start.js",
	} {
		for _, name := range all {
			if !strings.Contains(text(place), name) {
				t.Errorf("%s does not name %s", place, name)
			}
		}
	}
	for _, name := range all {
		sinks, err := export.Sinks([]string{name}, options(t.TempDir(), t.TempDir()))
		if err != nil || len(sinks) != 1 {
			t.Fatalf("%s: %d exports, %v: formats in export.go has a row for each", name, len(sinks), err)
		}
		sinks[0].Abort()
		if lists[name] == "" {
			t.Errorf("%s is not read back", name)
		}
		if !strings.Contains(page, "| `"+name+"` |") {
			t.Errorf("docs/formats-results.md has no row %s", name)
		}
	}
}

// hostile are the classes of photos whose names are no better.
var hostile = map[string]string{
	"a.jpg": "a/b", "b.jpg": "..", "c.jpg": "CON", "d.jpg": "a:b", "e.jpg": "new\nline", "f.jpg": "cat",
	"g.jpg": "Cat", "h.jpg": "/etc", "i.jpg": "caf%E9", "j.jpg": `"q"`, "k.jpg": "<&>", "l.jpg": " x ",
	"m.jpg": "train", "r.jpg": "README.MD",
	"test/n.jpg": "test", "caf\xe9.jpg": "=1+1", "caf%E9.jpg": "-", "a b+c&d=e?.jpg": "10 %", "x%2Fy.jpg": "%2F",
	"__o.jpg": "_rejected", "new\nline.jpg": ".", "dir/README.md.jpg": "metadata.jsonl", "C:\\p.jpg": "nul.txt",
	"q..r.jpg": strings.Repeat("long", 80),
}

func write(t *testing.T, root string, names ...string) {
	t.Helper()
	for _, name := range names {
		file := filepath.Join(root, filepath.FromSlash(name))
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(name), 0o644)))
	}
}

// row is a photo that people gave a class.
func row(path, class string) label.Scored {
	return label.Scored{Sample: dataset.Sample{Path: path}, By: label.Person, New: new(0.25),
		Prediction: classifier.Prediction{Label: class, Probability: 1,
			TopK: []classifier.Ranked{{Label: "cat", Probability: 0.75}}}}
}

func options(root, dir string, splits ...string) export.Options {
	return export.Options{Root: root, Dir: dir, Classes: []string{"cat", "dog"}, Model: "ncm 0123", Splits: splits,
		Size: func(string) (int, int, error) { return 200, 100, nil }, Shot: shots,
		Now: func() time.Time { return time.Date(2025, 7, 1, 0, 0, 0, 0, time.UTC) }}
}

// run exports rows.
func run(t *testing.T, o export.Options, formats []string, rows ...label.Scored) {
	t.Helper()
	sinks := must.Get(export.Sinks(formats, o))(t)
	for i, s := range sinks {
		for _, r := range rows {
			if err := s.Put(r); err != nil {
				t.Fatalf("%s: %s: %v", formats[i], r.Sample.Path, err)
			}
		}
		must.Do(t, s.Commit(embedding.Outcome{}))
		s.Abort()
		for _, name := range s.(label.Lister).Files() {
			if info, err := os.Lstat(filepath.Join(o.Dir, name)); err != nil || !info.Mode().IsRegular() {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	must.Do(t, os.WriteFile(filepath.Join(o.Dir, "summary.json"), []byte("{}"), 0o644))
}

// read returns the classes in a list by the content of the photos, which is their name.
func read(t *testing.T, list, root string) map[string]string {
	t.Helper()
	l := must.Get(dataset.ReadList(list, root, dataset.ListOptions{}))(t)
	if len(l.Problems) > 0 {
		t.Errorf("%s: %v", list, l.Problems)
	}
	got := map[string]string{}
	for _, s := range l.Samples {
		text, err := os.ReadFile(dataset.FullPath(root, s.Path))
		if err != nil {
			t.Error(err)
		}
		got[string(text)] = dataset.EscapePath(s.Label) // as a model learns it
	}
	return got
}

// TestHostileNames come back as they were from each format, and no file leaves its folder.
func TestHostileNames(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	names := slices.Sorted(maps.Keys(hostile))
	write(t, root, names...)
	var rows []label.Scored
	for _, name := range names {
		rows = append(rows, row(name, hostile[name]))
	}
	run(t, options(root, dir), all, rows...)
	for format, list := range lists {
		below := root
		if format == "imagefolder" {
			below = filepath.Join(dir, format)
		}
		if got := read(t, filepath.Join(dir, list), below); !maps.Equal(got, hostile) {
			t.Errorf("%s: %q, want %q", format, got, hostile)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(all)+1 {
		t.Errorf("%v %v", entries, err)
	}
	photos, folders := 0, map[string]bool{}
	err = filepath.WalkDir(filepath.Join(dir, "imagefolder"), func(name string, e fs.DirEntry, err error) error {
		if e.Type().IsRegular() && strings.HasSuffix(name, ".jpg") {
			photos++
			rel, _ := filepath.Rel(filepath.Join(dir, "imagefolder"), name)
			class, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
			folders[class] = true
		}
		if strings.ContainsAny(e.Name(), "\\:*?\"<>|\n") {
			t.Errorf("%q is no name for every system", e.Name())
		}
		return err
	})
	if err != nil || photos != len(hostile) || len(folders) != len(hostile) {
		t.Errorf("%d photos in %d folders, want %d: %v", photos, len(folders), len(hostile), err)
	}
}

// TestNoClassIsGiven to a photo that is rejected or was set aside, in any format; a
// prediction is no annotation for Label Studio.
func TestNoClassIsGiven(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "decided.jpg", "predicted.jpg", "rejected.jpg", "aside.jpg")
	predicted, rejected, aside := row("predicted.jpg", "cat"), row("rejected.jpg", "cat"), row("aside.jpg", "")
	predicted.By, rejected.By, rejected.Rejected = "", "", true
	run(t, options(root, dir), all, aside, row("decided.jpg", "bird"), predicted, rejected)
	for format, want := range map[string]map[string]string{
		"imagefolder":  {"decided.jpg": "bird", "predicted.jpg": "cat"},
		"coco":         {"decided.jpg": "bird", "predicted.jpg": "cat", "rejected.jpg": "", "aside.jpg": ""},
		"label-studio": {"decided.jpg": "bird", "predicted.jpg": "", "rejected.jpg": "", "aside.jpg": ""},
		"camtrap-dp":   {"decided.jpg": "bird", "predicted.jpg": "cat", "rejected.jpg": "", "aside.jpg": ""},
	} {
		below := root
		if format == "imagefolder" {
			below = filepath.Join(dir, format)
		}
		if got := read(t, filepath.Join(dir, lists[format]), below); !maps.Equal(got, want) {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
	var tasks []struct {
		Annotations []struct {
			Cancelled bool `json:"was_cancelled"`
		}
		Predictions []struct{ Score float64 }
	}
	object(t, filepath.Join(dir, lists["label-studio"]), &tasks)
	for i, want := range []struct{ annotations, predictions int }{{1, 1}, {1, 1}, {0, 1}, {0, 0}} {
		if len(tasks[i].Annotations) != want.annotations || len(tasks[i].Predictions) != want.predictions {
			t.Errorf("task %d: %+v, want %+v", i, tasks[i], want)
		}
	}
	if !tasks[0].Annotations[0].Cancelled || tasks[1].Annotations[0].Cancelled {
		t.Error("a photo that was set aside is a task that was skipped, and no other")
	}
	config, err := os.ReadFile(filepath.Join(dir, "label-studio/config.xml"))
	if err != nil || strings.Count(string(config), "<Choice ") != 3 || !strings.Contains(string(config), `"bird"`) {
		t.Errorf("%s %v", config, err)
	}
}

// TestSeveralThings leave with all their names, and come back; the probability of one of them
// is not claimed.
func TestSeveralThings(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "both.jpg", "one.jpg")
	both := row("both.jpg", "")
	both.Labels, both.At = []string{"Fox", "a;b"}, time.Date(2025, 6, 7, 8, 9, 10, 0, time.UTC)
	run(t, options(root, dir), all, both, row("one.jpg", "cat"))
	for format, list := range lists {
		below := root
		if format == "imagefolder" {
			below = filepath.Join(dir, format)
		}
		l, err := dataset.ReadList(filepath.Join(dir, list), below, dataset.ListOptions{Decided: true})
		if err != nil || len(l.Problems) > 0 || len(l.Samples) != 2 {
			t.Fatalf("%s: %+v %v", format, l, err)
		}
		for _, s := range l.Samples {
			if want := map[string]string{"both.jpg": "Fox;a%3Bb"}[filepath.Base(s.Path)]; s.Several != want ||
				(s.Label == "") != (want != "") {
				t.Errorf("%s: %+v", format, s)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "coco/instances.json"))
	if err != nil || strings.Count(string(text), `"probability"`) != 1 || strings.Contains(string(text), "set_aside") {
		t.Errorf("%s %v", text, err)
	}
	config, err := os.ReadFile(filepath.Join(dir, "label-studio/config.xml"))
	if err != nil || !strings.Contains(string(config), `choice="multiple"`) {
		t.Errorf("%s %v", config, err)
	}
	for i, o := range table(t, filepath.Join(dir, "camtrap-dp/observations.csv")) {
		want := []string{"both.jpg/1 2025-06-07T08:09:10Z", "both.jpg/2 2025-06-07T08:09:10Z", "one.jpg "}[i]
		if got := o["observationID"] + " " + o["classificationTimestamp"]; got != want {
			t.Errorf("observation %q, want %q", got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "imagefolder/_several/both.jpg")); err != nil {
		t.Error(err)
	}
}

// TestFoldersOfClasses are not repeated, unless two photos would have one name.
func TestFoldersOfClasses(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	places := map[string]string{"cat/a.jpg": "cat/a.jpg", "cat/b.jpg": "cat/cat/b.jpg", "b.jpg": "cat/b.jpg",
		"cat/cat/c.jpg": "cat/cat/c.jpg", "dog/a.jpg": "cat/dog/a.jpg"}
	names := slices.Sorted(maps.Keys(places))
	write(t, root, names...)
	var rows []label.Scored
	for _, name := range names {
		rows = append(rows, row(name, "cat"))
	}
	for range 2 { // the second run finds a tree of the first
		run(t, options(root, dir), []string{"imagefolder"}, rows...)
		for name, place := range places {
			text, err := os.ReadFile(filepath.Join(dir, "imagefolder", place))
			if string(text) != name {
				t.Errorf("%s is %q, want %q: %v", place, text, name, err)
			}
		}
	}
	run(t, options(root, dir), []string{"imagefolder"}, rows[1]) // which takes the others away
	photos := 0
	err := filepath.WalkDir(filepath.Join(dir, "imagefolder"), func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".jpg") {
			photos++
		}
		return err
	})
	if err != nil || photos != 1 {
		t.Errorf("%d photos are left, %v", photos, err)
	}
}

func object(t *testing.T, file string, to any) {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// TestAgain: another run replaces what a run wrote, with a split or without, and nothing
// else; one that is given up leaves everything as it was.
func TestAgain(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "a.jpg", "sub/b.jpg", "c.jpg")
	a, b, c := row("a.jpg", "cat"), row("sub/b.jpg", "dog"), row("c.jpg", "train")
	run(t, options(root, dir), all, a, b, c)
	first := tree(t, dir)
	photo, err := os.Stat(filepath.Join(root, "sub/b.jpg"))
	linked, err2 := os.Stat(filepath.Join(dir, "imagefolder/dog/sub/b.jpg"))
	if err != nil || err2 != nil || !os.SameFile(photo, linked) {
		t.Errorf("the photo takes space twice: %v %v", err, err2)
	}
	write(t, dir, "coco/mine.json", "imagefolder/cat/mine.jpg", "label-studio/notes.txt")

	sinks := must.Get(export.Sinks(all, options(root, dir)))(t)
	for _, s := range sinks {
		must.Do(t, s.Put(a))
		s.Abort()
	}
	mine := map[string]string{}
	for _, name := range []string{"coco/mine.json", "imagefolder/cat/mine.jpg", "label-studio/notes.txt"} {
		mine[name] = name
	}
	want := maps.Clone(first)
	maps.Copy(want, mine)
	if got := tree(t, dir); !maps.Equal(got, want) {
		t.Errorf("given up: %q, want %q", got, want)
	}

	a.Split, b.Split, c.Split = "train", "test", "test"
	b.Prediction.Label = "bird"
	run(t, options(root, dir, "train", "test"), all, a, b, c)
	got := tree(t, dir)
	for _, name := range []string{
		"imagefolder/train/cat/a.jpg", "imagefolder/test/bird/sub/b.jpg", "imagefolder/test/train/c.jpg",
		"imagefolder/train/metadata.jsonl", "coco/instances_test.json",
	} {
		if got[name] == "" {
			t.Errorf("no %s", name)
		}
	}
	a.Split, b.Split, c.Split = "", "", ""
	b.Prediction.Label = "dog"
	run(t, options(root, dir), all, a, b, c)
	if got := tree(t, dir); !maps.Equal(got, want) {
		t.Errorf("again: %q, want %q", got, want)
	}
}

// tree returns the files of a folder with what they contain.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		rel, relErr := filepath.Rel(dir, name)
		found[filepath.ToSlash(rel)] = string(text)
		return errors.Join(err, relErr)
	}))
	return found
}

// shots are of photos whose names say so.
func shots(file, taken string) (s photometa.Shot) {
	name := filepath.Base(file)
	if strings.HasPrefix(name, "undated") && taken == "" {
		return s
	}
	s.Time = time.Date(2025, 6, 14, 10, 11, 12, 0, time.UTC)
	if strings.HasPrefix(name, "zoned") {
		s.Time, s.Zoned = s.Time.Add(time.Hour).In(time.FixedZone("", -7200)), true
	}
	s.Camera, s.Serial = "HC600", "7"
	return s
}
