package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestShards: the rows of all shards together are those of one run, and a
// pattern narrows each.
func TestShards(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	l.write(filepath.Join(images, "broken.jpg"), []byte("no picture"))
	l.write(filepath.Join(images, "film.mp4"), nil)
	l.expect(exitPartial, "label", model, "--images", images, "--out", l.path("whole"))
	var rows, errors [][]string
	skipped := 0.0
	for i := 1; i <= 3; i++ {
		r := l.run("label", model, "--images", images, "--out", l.path("parts"), "--shard", fmt.Sprintf("%d/3", i))
		out := l.path("parts", fmt.Sprintf("shard-%d-of-3", i))
		rows = append(rows, l.table(out, "labels.csv")[1:]...)
		failed := l.table(out, "errors.csv")[1:]
		errors = append(errors, failed...)
		if want := exitDone + len(failed)*exitPartial; r.code != want {
			t.Errorf("shard %d: exit code %d, want %d\n%s", i, r.code, want, r.stderr)
		}
		if n, found := l.object(out, "summary.json")["skipped"].(map[string]any)["video"].(float64); found {
			skipped += n
		}
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	if want := l.table(l.path("whole"), "labels.csv")[1:]; fmt.Sprint(rows) != fmt.Sprint(want) {
		t.Errorf("shards give\n%q\nwant\n%q", rows, want)
	}
	if len(errors) != 1 || skipped != 1 {
		t.Errorf("errors %q, %g films", errors, skipped)
	}
	l.must("embed", "--images", images, "--out", l.path("features"), "--shard", "1/2", "--exclude", "broken.*")
	l.must("embed", "--images", images, "--out", l.path("features"), "--shard", "2/2", "--exclude", "broken.*")
	one, two := l.table(l.path("features", "shard-1-of-2"), "samples.csv"), l.table(l.path("features", "shard-2-of-2"), "samples.csv")
	if len(one)+len(two)-2 != len(rows) {
		t.Errorf("%d and %d rows embedded, want %d", len(one)-1, len(two)-1, len(rows))
	}
	for _, bad := range []string{"0/3", "4/3", "x"} {
		l.refused(exitUsage, []string{"shard", "i/n"}, "label", model, "--images", images, "--out", l.path("o"), "--shard", bad)
	}
}

func TestPatternsOnTheCommandLine(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	classes := l.classesIn(images)
	l.must("label", model, "--images", images, "--out", l.path("out"), "--include", classes[0]+"/**", "--include", "**/{"+classes[1]+",none}/*", "--exclude", "*000.jpg", "--format", "csv,parquet")
	rows := l.table(l.path("out"), "labels.csv")
	for _, path := range column(t, rows, "path") {
		if !strings.HasPrefix(path, classes[0]+"/") && !strings.HasPrefix(path, classes[1]+"/") || strings.HasSuffix(path, "000.jpg") {
			t.Errorf("%s was labelled", path)
		}
	}
	if n := l.object(l.path("out"), "summary.json")["skipped"].(map[string]any)["filtered"]; n == nil {
		t.Error("filtered files are not counted")
	}
	type row struct {
		Path        string  `parquet:"path"`
		Probability float64 `parquet:"probability"`
	}
	same, err := parquet.ReadFile[row](l.path("out", "labels.parquet"))
	if err != nil || len(same) != len(rows)-1 {
		t.Fatalf("%d parquet rows, %d in csv (%v)", len(same), len(rows)-1, err)
	}
	for i, p := range column(t, rows, "probability") {
		if fmt.Sprintf("%.7g", same[i].Probability) != p || same[i].Path != rows[i+1][0] {
			t.Errorf("row %d: %+v, csv %q", i, same[i], rows[i+1])
		}
	}
	l.refused(exitUsage, []string{"glob", "[a"}, "label", model, "--images", images, "--out", l.path("o"), "--include", "[a")
	l.refused(exitUsage, []string{"symlinks", "follow"}, "label", model, "--images", images, "--out", l.path("o"), "--symlinks", "no")
}

// classesIn lists the first-level folders.
func (l *testbed) classesIn(images string) []string {
	l.Helper()
	found, err := filepath.Glob(filepath.Join(images, "*"))
	if err != nil || len(found) < 2 {
		l.Fatal(found, err)
	}
	for i := range found {
		found[i] = filepath.Base(found[i])
	}
	return found
}

// TestStdinIsTheJob: a worker gives the rows of labels.jsonl, byte for byte.
func TestStdinIsTheJob(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	l.must("label", model, "--images", images, "--out", l.path("out"), "--format", "jsonl")
	want := string(l.read(l.path("out"), "labels.jsonl"))
	var in bytes.Buffer
	for _, row := range strings.Split(strings.TrimSpace(want), "\n") {
		fmt.Fprintln(&in, strings.Split(row, `"`)[3])
	}
	cmd, stderr := l.process(l.path("cache"), "label", model, "--images", images, "--stdin")
	cmd.Stdin = &in
	got, err := cmd.Output()
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\n%s\nwant\n%s", err, stderr, got, want)
	}
}

func TestEmbedStdin(t *testing.T) {
	l := newTestbed(t)
	images := l.photos(l.path("photos"), smallSide, 1, "a", "b")
	cmd, stderr := l.process(l.path("cache"), "embed", "--stdin", "--images", images)
	cmd.Stdin = strings.NewReader("{\"path\":\"a/000.jpg\",\"id\":1}\nnowhere.jpg\n" + filepath.Join(images, "b", "000.jpg") + "\n")
	got, _ := cmd.Output()
	lines := strings.Split(strings.TrimSpace(string(got)), "\n")
	if cmd.ProcessState.ExitCode() != exitPartial || len(lines) != 3 {
		t.Fatalf("exit code %d\n%s\n%s", cmd.ProcessState.ExitCode(), stderr, got)
	}
	for i, want := range []string{`{"id":1,"path":"a/000.jpg","embedding":[`, `{"path":"nowhere.jpg","error":"`, `{"path":"/`} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("answer %d: %.80s", i, lines[i])
		}
	}
	for _, flag := range []string{"--out=f", "--list=f", "--shard=1/2", "--include=*.jpg"} {
		name, _, _ := strings.Cut(flag, "=")
		l.refused(exitUsage, []string{"--stdin", name}, "embed", "--stdin", flag)
	}
	l.refused(exitUsage, []string{"--stdin", "--report", "--xmp"}, "label", l.path("no.model"), "--stdin", "--report", "--xmp")
	l.refused(exitUsage, []string{"--stdin", "label.report"}, "label", l.path("no.model"), "--stdin", "--set", "label.report=true")
}

func TestRowsPerFile(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	l.must("label", model, "--images", images, "--out", l.path("out"), "--set", "label.rows_per_file=10")
	files := l.object(l.path("out"), "summary.json")["files"].([]any)
	n := 0
	for _, f := range files {
		n += len(l.table(l.path("out"), f.(string))) - 1
	}
	l.must("label", model, "--images", images, "--out", l.path("whole"))
	if whole := len(l.table(l.path("whole"), "labels.csv")) - 1; len(files) != (whole+9)/10 || n != whole {
		t.Errorf("%v have %d rows, want %d", files, n, whole)
	}
}
