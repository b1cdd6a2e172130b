package labels

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestShards: the rows of all shards together are those of one run, and a
// pattern narrows each.
func TestShards(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	l.Write(filepath.Join(images, "broken.jpg"), []byte("no picture"))
	l.Write(filepath.Join(images, "film.mp4"), nil)
	l.Expect(command.ExitPartial, "label", model, "--images", images, "--out", l.Path("whole"))
	var rows, errors [][]string
	skipped := 0.0
	for i := 1; i <= 3; i++ {
		r := l.Run("label", model, "--images", images, "--out", l.Path("parts"), "--shard", fmt.Sprintf("%d/3", i))
		out := l.Path("parts", fmt.Sprintf("shard-%d-of-3", i))
		rows = append(rows, l.Table(out, "labels.csv")[1:]...)
		failed := l.Table(out, "errors.csv")[1:]
		errors = append(errors, failed...)
		if want := command.ExitDone + len(failed)*command.ExitPartial; r.Code != want {
			t.Errorf("shard %d: exit code %d, want %d\n%s", i, r.Code, want, r.Stderr)
		}
		if n, found := l.Object(out, "summary.json")["skipped"].(map[string]any)["video"].(float64); found {
			skipped += n
		}
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	if want := l.Table(l.Path("whole"), "labels.csv")[1:]; fmt.Sprint(rows) != fmt.Sprint(want) {
		t.Errorf("shards give\n%q\nwant\n%q", rows, want)
	}
	if len(errors) != 1 || skipped != 1 {
		t.Errorf("errors %q, %g films", errors, skipped)
	}
	l.Must("embed", "--images", images, "--out", l.Path("features"), "--shard", "1/2", "--exclude", "broken.*")
	l.Must("embed", "--images", images, "--out", l.Path("features"), "--shard", "2/2", "--exclude", "broken.*")
	one, two := l.Table(l.Path("features", "shard-1-of-2"), "samples.csv"),
		l.Table(l.Path("features", "shard-2-of-2"), "samples.csv")
	if len(one)+len(two)-2 != len(rows) {
		t.Errorf("%d and %d rows embedded, want %d", len(one)-1, len(two)-1, len(rows))
	}
	for _, bad := range []string{"0/3", "4/3", "x"} {
		l.Refused(command.ExitUsage, []string{"shard", "i/n"}, "label", model, "--images", images, "--out", l.Path("o"),
			"--shard", bad)
	}
}

func TestPatternsOnTheCommandLine(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	classes := classesIn(l, images)
	l.Must("label", model, "--images", images, "--out", l.Path("out"), "--include", classes[0]+"/**", "--include",
		"**/{"+classes[1]+",none}/*", "--exclude", "*000.jpg", "--format", "csv,parquet")
	rows := l.Table(l.Path("out"), "labels.csv")
	for _, path := range commandtest.Column(t, rows, "path") {
		if !strings.HasPrefix(path, classes[0]+"/") && !strings.HasPrefix(path, classes[1]+"/") ||
			strings.HasSuffix(path, "000.jpg") {
			t.Errorf("%s was labelled", path)
		}
	}
	if n := l.Object(l.Path("out"), "summary.json")["skipped"].(map[string]any)["filtered"]; n == nil {
		t.Error("filtered files are not counted")
	}
	type row struct {
		Path        string  `parquet:"path"`
		Probability float64 `parquet:"probability"`
	}
	same, err := parquet.ReadFile[row](l.Path("out", "labels.parquet"))
	if err != nil || len(same) != len(rows)-1 {
		t.Fatalf("%d parquet rows, %d in csv (%v)", len(same), len(rows)-1, err)
	}
	for i, p := range commandtest.Column(t, rows, "probability") {
		if fmt.Sprintf("%.7g", same[i].Probability) != p || same[i].Path != rows[i+1][0] {
			t.Errorf("row %d: %+v, csv %q", i, same[i], rows[i+1])
		}
	}
	l.Refused(command.ExitUsage, []string{"glob", "[a"}, "label", model, "--images", images, "--out", l.Path("o"),
		"--include", "[a")
	l.Refused(command.ExitUsage, []string{"symlinks", "follow"}, "label", model, "--images", images, "--out",
		l.Path("o"), "--symlinks", "no")
}

// classesIn lists the first-level folders.
func classesIn(l *commandtest.Bed, images string) []string {
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
	l := commandtest.New(t)
	model, images := l.Trained()
	l.Must("label", model, "--images", images, "--out", l.Path("out"), "--format", "jsonl")
	want := string(l.Read(l.Path("out"), "labels.jsonl"))
	var in bytes.Buffer
	for _, row := range strings.Split(strings.TrimSpace(want), "\n") {
		fmt.Fprintln(&in, strings.Split(row, `"`)[3])
	}
	cmd, stderr := l.Process(l.Path("cache"), "label", model, "--images", images, "--stdin")
	cmd.Stdin = &in
	got, err := cmd.Output()
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\n%s\nwant\n%s", err, stderr, got, want)
	}
}

func TestEmbedStdin(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), commandtest.SmallSide, 1, "a", "b")
	cmd, stderr := l.Process(l.Path("cache"), "embed", "--stdin", "--images", images)
	cmd.Stdin = strings.NewReader("{\"path\":\"a/000.jpg\",\"id\":1}\nnowhere.jpg\n" +
		filepath.Join(images, "b", "000.jpg") + "\n")
	got, _ := cmd.Output()
	lines := strings.Split(strings.TrimSpace(string(got)), "\n")
	if cmd.ProcessState.ExitCode() != command.ExitPartial || len(lines) != 3 {
		t.Fatalf("exit code %d\n%s\n%s", cmd.ProcessState.ExitCode(), stderr, got)
	}
	for i, want := range []string{`{"id":1,"path":"a/000.jpg","embedding":[`, `{"path":"nowhere.jpg","error":"`,
		`{"path":"/`} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("answer %d: %.80s", i, lines[i])
		}
	}
	for _, flag := range []string{"--out=f", "--list=f", "--shard=1/2", "--include=*.jpg"} {
		name, _, _ := strings.Cut(flag, "=")
		l.Refused(command.ExitUsage, []string{"--stdin", name}, "embed", "--stdin", flag)
	}
	l.Refused(command.ExitUsage, []string{"--stdin", "--report", "--xmp"}, "label", l.Path("no.model"), "--stdin",
		"--report", "--xmp")
	l.Refused(command.ExitUsage, []string{"--stdin", "label.report"}, "label", l.Path("no.model"), "--stdin", "--set",
		"label.report=true")
}

func TestRowsPerFile(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	q := pipeline.NewLabelRequest(model, pipeline.Folder(images), l.Path("out"))
	q.Settings.RowsPerFile = 10
	r, rows := must.Get(l.Studio().Label(t.Context(), q))(t), 0
	for _, file := range r.Files {
		rows += len(l.Table(q.Out, file)) - 1
	}
	if r.Labelled != 24 || rows != 24 || len(r.Files) != 3 {
		t.Errorf("%v have %d rows of %d", r.Files, rows, r.Labelled)
	}
}
