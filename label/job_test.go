package label_test

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
)

// A table of embeddings by path replaces backbone and images; paths not in it
// cannot be read.
type table map[string][]float32

func (e table) of(images *dataset.Source) rows { return rows{images, e} }

type rows struct {
	*dataset.Source
	table
}

// content stands for the SHA-256 of a file.
func content(path string) [sha256.Size]byte { return sha256.Sum256([]byte(path)) }

func (rows) Provenance() embedding.Provenance { return embedding.Provenance{} }

func (r rows) Each(ctx context.Context, emit func(embedding.Item) error) (embedding.Outcome, error) {
	var outcome embedding.Outcome
	for s := range r.Samples(ctx) {
		if err := ctx.Err(); err != nil {
			return outcome, err
		}
		outcome.Total++
		item := embedding.Item{Sample: s, Vector: r.table[s.Path], Hash: content(s.Path)}
		if item.Vector == nil {
			item.Err = errors.New("no such picture")
			outcome.Failed++
			outcome.Problems = append(outcome.Problems, dataset.Problem{Path: s.Path, Err: item.Err})
		} else {
			outcome.Inferred++
		}
		if err := emit(item); err != nil {
			return outcome, err
		}
	}
	found, err := r.Outcome()
	outcome.Problems, outcome.Skipped = append(outcome.Problems, found.Problems...), found.Skipped
	return outcome, err
}

// line is a head with the classes left, at −1, and right, at 1; at τ = 1 the
// probability of right is 1/(1+exp(−2x)).
func line(tb testing.TB) *ncm.NCM {
	head := must.Get(ncm.New(ncm.Config{Metric: ncm.Euclidean, Temperature: 1}))(tb)
	must.Do(tb, head.Learn(context.Background(), blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{-1, 1}},
		[]string{"left", "right"}))
	return head
}

func newJob(tb testing.TB, e table, out string, found ...dataset.Problem) label.Job {
	paths := make([]string, 0, len(e))
	for path := range e {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	job := label.Job{
		Config: label.DefaultConfig(), Head: line(tb), Out: out,
	}
	images := dataset.Listing{Root: "nowhere", Problems: found, Skipped: map[string]int{"video": 2}}
	for _, path := range paths {
		images.Samples = append(images.Samples, dataset.Sample{Path: path})
	}
	job.Images = e.of(images.Source())
	return job
}

func readTable(tb testing.TB, file string) [][]string {
	tb.Helper()
	f := must.Get(os.Open(file))(tb)
	defer f.Close()
	rows := must.Get(csv.NewReader(f).ReadAll())(tb)
	return rows[1:]
}

func TestRunWritesTheProbabilities(t *testing.T) {
	out := filepath.Join(t.TempDir(), "new", "folder")
	job := newJob(t, table{"a.jpg": {0.5}, "b.jpg": {-9}, "c.jpg": nil}, out,
		dataset.Problem{Path: "Z", Err: errors.New("loop")})
	job.Threshold = label.Above(1) // the novelty is -0.1 and 1.75
	summary := must.Get(job.Run(context.Background()))(t)
	rows := readTable(t, filepath.Join(out, "labels.csv"))
	right := 1 / (1 + math.Exp(-1))
	if len(rows) != 2 || rows[0][1] != "right" || rows[0][2] != fmt.Sprintf("%.7g", right) ||
		rows[0][3] != fmt.Sprintf("%.7g", 2*right-1) {
		t.Errorf("rows %q", rows)
	}
	if rows[0][6] != "false" || rows[1][6] != "true" || rows[1][1] != "" {
		t.Errorf("rejected: %q", rows)
	}
	if problems := readTable(t,
		filepath.Join(out, "errors.csv")); fmt.Sprint(problems) != "[[Z loop] [c.jpg no such picture]]" {
		t.Errorf("errors %q", problems)
	}
	if summary.Labelled != 2 || summary.Failed != 2 || summary.Rejected != 1 || summary.Skipped["video"] != 2 ||
		summary.Timing.Inferred != 2 {
		t.Errorf("summary %+v", summary)
	}
}

// TestBatchesDoNotShow: a thousand rows span several batches; each is in its
// place and equal to its result alone.
func TestBatchesDoNotShow(t *testing.T) {
	e := table{}
	for i := range 1000 {
		e[fmt.Sprintf("%04d.jpg", i)] = []float32{float32(i-500) / 250}
	}
	out := t.TempDir()
	must.Get(newJob(t, e, out).Run(context.Background()))(t)
	rows := readTable(t, filepath.Join(out, "labels.csv"))
	for i, row := range rows {
		p := 1 / (1 + math.Exp(-2*math.Abs(float64(float32(i-500)/250))))
		if row[0] != fmt.Sprintf("%04d.jpg", i) || row[2] != fmt.Sprintf("%.7g", p) {
			t.Fatalf("row %d: %q, want probability %.7g", i, row, p)
		}
	}
	if len(rows) != 1000 {
		t.Errorf("%d rows", len(rows))
	}
}

func TestNoImages(t *testing.T) {
	out := t.TempDir()
	job := newJob(t, table{}, out)
	job.Images = table{}.of(dataset.Listing{}.Source())
	must.Get(job.Run(context.Background()))(t)
	var summary map[string]any
	text, err := os.ReadFile(filepath.Join(out, "summary.json"))
	if err == nil {
		err = json.Unmarshal(text, &summary)
	}
	if err != nil || fmt.Sprint(summary["skipped"]) != "map[]" {
		t.Errorf("summary.json %s, %v", text, err)
	}
}

// A meddler calls a function in the middle of a run.
type meddler struct {
	embedding.Rows
	meddle func() error
}

func (e meddler) Each(ctx context.Context, emit func(embedding.Item) error) (embedding.Outcome, error) {
	if err := e.meddle(); err != nil {
		return embedding.Outcome{}, err
	}
	return e.Rows.Each(ctx, emit)
}

// TestSecondJobIsRefused while the first one writes, and accepted afterwards.
func TestSecondJobIsRefused(t *testing.T) {
	out := t.TempDir()
	second := newJob(t, table{"a.jpg": {1}}, out)
	first := second
	first.Images = meddler{first.Images, func() error {
		_, err := second.Run(context.Background())
		if err == nil || !strings.Contains(err.Error(), "another job") {
			t.Errorf("the second job: %v", err)
		}
		return nil
	}}
	must.Get(first.Run(context.Background()))(t)
	if _, err := second.Run(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestInterruptedRunLeavesTheOldResults, and removes the leftovers of a killed
// run.
func TestInterruptedRunLeavesTheOldResults(t *testing.T) {
	out := t.TempDir()
	e := table{"a.jpg": {1}, "b.jpg": {-1}}
	must.Get(newJob(t, e, out).Run(context.Background()))(t)
	old := must.Get(os.ReadFile(filepath.Join(out, "labels.csv")))(t)
	stale := must.Get(atomicfile.Create(filepath.Join(out, "labels.csv")))(t)
	if err := stale.Close(); err != nil { // its writer is gone
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	job := newJob(t, table{"c.jpg": {1}}, out)
	job.Images = meddler{job.Images, func() error { cancel(); return nil }}
	if _, err := job.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if now, err := os.ReadFile(filepath.Join(out, "labels.csv")); err != nil || string(now) != string(old) {
		t.Errorf("labels.csv is now %q (%v)", now, err)
	}
	noTemporaryFiles(t, out)
}

func noTemporaryFiles(t *testing.T, dir string) {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	for _, entry := range entries {
		if atomicfile.IsTemp(entry.Name()) {
			t.Errorf("%s was left over", entry.Name())
		}
	}
}

// TestErrorsNameTheImage: an embedding that the head cannot score is an error
// of the run.
func TestErrorsNameTheImage(t *testing.T) {
	for name, e := range map[string]table{
		"size": {"odd.jpg": {1, 2}},
		"mix":  {"fine.jpg": {1}, "odd.jpg": {1, 2}},
		"NaN":  {"odd.jpg": {float32(math.NaN())}},
	} {
		out := t.TempDir()
		_, err := newJob(t, e, out).Run(context.Background())
		if err == nil || !strings.Contains(err.Error(), "odd.jpg") {
			t.Errorf("%s: %v", name, err)
		}
		noTemporaryFiles(t, out)
	}
}

// late refuses an image, or fails, when it is committed.
type late struct{ err error }

func (late) Put(label.Scored) error           { return nil }
func (l late) Commit(embedding.Outcome) error { return l.err }
func (late) Abort()                           {}

// TestRefusedAtTheEnd: what a sink could not finish is in errors.csv; what else goes wrong is an error of the run.
func TestRefusedAtTheEnd(t *testing.T) {
	job := newJob(t, table{"a.jpg": {1}, "b.jpg": {-1}}, t.TempDir())
	job.Sinks = []label.Sink{late{label.Refused{{Path: "b.jpg", Err: errors.New("no right to write")}}}}
	summary, err := job.Run(context.Background())
	if err != nil || summary.Labelled != 2 || summary.Failed != 1 {
		t.Fatalf("%d labelled, %d failed (%v), want 2 and 1", summary.Labelled, summary.Failed, err)
	}
	if got := readTable(t, filepath.Join(job.Out, "errors.csv")); len(got) != 1 || got[0][0] != "b.jpg" {
		t.Errorf("errors.csv has %q", got)
	}
	full := errors.New("disk full")
	job.Sinks = []label.Sink{late{full}}
	if _, err := job.Run(context.Background()); !errors.Is(err, full) {
		t.Errorf("a full disk: %v", err)
	}
}

func TestOutputFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, nil, 0o644))
	if _, err := newJob(t, table{"a.jpg": {1}}, file).Run(context.Background()); err == nil ||
		!strings.Contains(err.Error(), "output folder") {
		t.Errorf("a file as the output folder: %v", err)
	}
}

func ExampleJob_Run() {
	head, err := ncm.New(ncm.Config{Metric: ncm.Euclidean, Temperature: 1})
	if err != nil {
		panic(err)
	}
	shots := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{0, 1, 1, 0}}
	if err := head.Learn(context.Background(), shots, []string{"kiwi", "lime"}); err != nil {
		panic(err)
	}
	out, err := os.MkdirTemp("", "labels-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(out)
	images := dataset.Listing{Samples: []dataset.Sample{{Path: "a.jpg"}, {Path: "b.jpg"}, {Path: "c.jpg"}}}
	summary, err := label.Job{
		Config: label.Config{Format: []string{"jsonl"}, TopK: 1},
		Head:   head,
		Images: table{"a.jpg": {0, 2}, "b.jpg": {3, 0}}.of(images.Source()), // stands for embedder.Embed(images)
		Out:    out,
	}.Run(context.Background())
	if err != nil {
		panic(err)
	}
	labels, err := os.ReadFile(filepath.Join(out, "labels.jsonl"))
	if err != nil {
		panic(err)
	}
	fmt.Println(summary.Labelled, "labelled,", summary.Failed, "failed")
	fmt.Print(string(labels))
	// Output:
	// 2 labelled, 1 failed
	// {"path":"a.jpg","label":"kiwi","probability":0.8807971,"margin":0.7615942,"entropy":0.3653339,"novelty":-0.5625,"rejected":false,"top_k":[["kiwi",0.8807971]],"p_new":null,"by":""}
	// {"path":"b.jpg","label":"lime","probability":0.9525741,"margin":0.9051483,"entropy":0.190865,"novelty":-0.375,"rejected":false,"top_k":[["lime",0.9525741]],"p_new":null,"by":""}
}
