package label_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
)

// TestKeptRowsAreTheRows: a job of kept rows, with and without embeddings, writes the bytes of a job of
// the rows, errors and decisions included, also a decision about an embedding; its head is not asked.
func TestKeptRowsAreTheRows(t *testing.T) {
	photos := table{"bad.jpg": nil}
	for i := range 300 {
		photos[fmt.Sprintf("%03d.jpg", i)] = []float32{float32(i)/100 - 1.5}
	}
	decided := map[[sha256.Size]byte]label.Decision{
		content("007.jpg"):                      {Class: "right", By: label.Person},
		embedding.HashRow(photos["290.jpg"]):    {Class: "left", By: label.List},
		sha256.Sum256([]byte("another folder")): {Class: "left", By: label.Person},
	}
	written := func(change func(*label.Job)) map[string]string {
		job := newJob(t, photos, t.TempDir())
		job.Config.Format, job.Threshold = []string{"csv", "jsonl"}, label.Above(0.5)
		job.Decided = func(content [sha256.Size]byte) (label.Decision, bool) {
			d, ok := decided[content]
			return d, ok
		}
		change(&job)
		summary := must.Get(job.Run(t.Context()))(t)
		out := map[string]string{"counts": fmt.Sprint(summary.Labelled, summary.Failed, summary.Rejected,
			summary.Decided, summary.Skipped, summary.Timing.Inferred)}
		for _, name := range []string{"labels.csv", "labels.jsonl", "errors.csv"} {
			text := must.Get(os.ReadFile(filepath.Join(job.Out, name)))(t)
			out[name] = string(text)
		}
		return out
	}
	want := written(func(*label.Job) {})
	for _, embeddings := range []bool{false, true} {
		got := written(func(job *label.Job) {
			kept := must.Get(label.Keep(t.Context(), job.Pass().Scorer, job.Images, t.TempDir(), embeddings))(t)
			t.Cleanup(kept.Close)
			job.Images, job.Head = kept, dumb{job.Head}
		})
		for name := range want {
			if got[name] != want[name] {
				t.Errorf("embeddings %v: other %s:\n%s\n%s", embeddings, name, got[name], want[name])
			}
		}
	}
	only := written(func(job *label.Job) {
		kept := must.Get(label.Keep(t.Context(), job.Pass().Scorer, job.Images, t.TempDir(), true))(t)
		t.Cleanup(kept.Close)
		kept.Drop(func(d *label.Decision) bool { return d == nil })
		job.Images = kept
	})
	if rows := len(only["labels.csv"]); rows > 300 || only["errors.csv"] != want["errors.csv"] {
		t.Errorf("of two decided rows: %s", only["labels.csv"])
	}
}

// A dumb head says nothing but its classes.
type dumb struct{ classifier.Head }

func (dumb) Score(blas64.General, []float64, blas32.General) error { return errors.New("asked again") }

// TestKeepingLeavesNothing: a walk that fails or is stopped leaves no files, and neither does one that
// is closed.
func TestKeepingLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	empty := func(what string) {
		t.Helper()
		if entries, err := os.ReadDir(temp); err != nil || len(entries) != 0 {
			t.Errorf("%s: %v, %v", what, entries, err)
		}
	}
	job := newJob(t, table{"a.jpg": {0.5}}, t.TempDir())
	kept := must.Get(label.Keep(t.Context(), job.Pass().Scorer, job.Images, temp, true))(t)
	if _, err := kept.As(t.Context(), dumb{job.Head}); err == nil {
		t.Error("a head that fails is no error")
	}
	kept.Close()
	empty("closed")
	if _, err := label.Keep(t.Context(), label.Scorer{Head: dumb{job.Head}}, job.Images, temp, true); err == nil {
		t.Error("a head that fails is no error")
	}
	empty("failed")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := label.Keep(stopped, job.Pass().Scorer, job.Images, temp, false); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	empty("stopped")
}
