package label

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// batchRows embeddings are classified at a time. The cut depends on the input
// alone, never on timing, so a repeated run gives the same bits.
const batchRows = 256

// An Embedder turns samples into embeddings and emits them in input order.
type Embedder interface {
	Run(ctx context.Context, root string, samples []dataset.Sample, emit func(embedding.Item) error) (embedding.Counts, error)
}

// A Job labels the images of a listing.
type Job struct {
	Config   Config
	Head     classifier.Classifier
	Embedder Embedder
	// Threshold is the novelty above which an image is rejected, +Inf to
	// reject nothing.
	Threshold float64
	Images    dataset.Listing
	// Out is the folder of the results; it is made when missing.
	Out string
	// Settings and Hashes go into summary.json.
	Settings map[string]any
	Hashes   map[string]string
}

// Run labels every image, writes the result files and returns their summary.
// Images that fail are rows of errors.csv, not errors. A second job on the
// same folder is refused.
func (j Job) Run(ctx context.Context) (Summary, error) {
	unlock, err := lock(j.Out)
	if err != nil {
		return Summary{}, err
	}
	defer unlock()
	r := run{Job: j, problems: j.Images.Problems}
	defer r.abort()
	return r.all(ctx)
}

func lock(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("output folder: %w", err)
	}
	l := flock.New(filepath.Join(dir, ".lock"))
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("output folder %s: %w", dir, err)
	}
	if !ok {
		return nil, fmt.Errorf("output folder %s: another job is writing to it; wait for it or choose another --out", dir)
	}
	if _, err := atomicfile.RemoveStale(dir); err != nil {
		return nil, errors.Join(err, l.Unlock())
	}
	return func() { _ = l.Unlock() }, nil
}

// A run is one pass over the images: rows gather in pending, are classified
// together and written to every output.
type run struct {
	Job
	outputs  []output
	paths    []string
	pending  []float32
	problems []dataset.Problem
	summary  Summary
}

func (r *run) all(ctx context.Context) (Summary, error) {
	start := time.Now()
	if err := r.createOutputs(); err != nil {
		return r.summary, err
	}
	counts, err := r.Embedder.Run(ctx, r.Images.Root, r.Images.Samples, r.take)
	if err != nil {
		return r.summary, err
	}
	if err := r.classify(); err != nil {
		return r.summary, err
	}
	r.summarise(counts, time.Since(start))
	return r.summary, r.commit()
}

func (r *run) createOutputs() error {
	for _, format := range r.Config.Format {
		o, err := createOutput(r.Out, format)
		if err != nil {
			return err
		}
		r.outputs = append(r.outputs, o)
	}
	return nil
}

func (r *run) take(item embedding.Item) error {
	if item.Err != nil {
		r.problems = append(r.problems, dataset.Problem{Path: item.Sample.Path, Err: item.Err})
		return nil
	}
	if d := r.Head.Dim(); len(item.Vector) != d {
		return fmt.Errorf("classify %s: its embedding has %d dimensions, the model %d", item.Sample.Path, len(item.Vector), d)
	}
	r.paths = append(r.paths, item.Sample.Path)
	r.pending = append(r.pending, item.Vector...)
	if len(r.paths) < batchRows {
		return nil
	}
	return r.classify()
}

func (r *run) classify() error {
	n := len(r.paths)
	if n == 0 {
		return nil
	}
	d := len(r.pending) / n
	x := blas32.General{Rows: n, Cols: d, Stride: d, Data: r.pending}
	predictions, err := classifier.Predict(r.Head, x, r.Config.TopK)
	if err != nil {
		return fmt.Errorf("classify %s and the %d images after it: %w", r.paths[0], n-1, err)
	}
	for i, p := range predictions {
		if err := r.write(r.paths[i], p); err != nil {
			return err
		}
	}
	r.paths, r.pending = r.paths[:0], r.pending[:0]
	return nil
}

func (r *run) write(path string, p classifier.Prediction) error {
	rejected := p.Novelty > r.Threshold
	if rejected {
		r.summary.Rejected++
	}
	r.summary.Labelled++
	row := newRow(path, p, rejected)
	for _, o := range r.outputs {
		if err := o.write(row); err != nil {
			return fmt.Errorf("write labels: %w", err)
		}
	}
	return nil
}

func (r *run) summarise(counts embedding.Counts, took time.Duration) {
	took = max(took, time.Nanosecond) // a coarse clock must not make it infinite
	r.summary.Failed = len(r.problems)
	r.summary.Skipped = r.Images.Skipped
	if r.summary.Skipped == nil {
		r.summary.Skipped = map[string]int{}
	}
	r.summary.Settings, r.summary.Hashes = r.Settings, r.Hashes
	r.summary.Timing = Timing{
		Seconds:         number(took.Seconds()),
		ImagesPerSecond: number(float64(r.summary.Labelled) / took.Seconds()),
		Cached:          counts.Cached,
		Inferred:        counts.Inferred,
		Read:            counts.Read,
	}
}

// commit gives the files their names, the summary last: where it stands, the
// others are whole.
func (r *run) commit() error {
	for _, o := range r.outputs {
		if err := o.commit(); err != nil {
			return fmt.Errorf("write labels: %w", err)
		}
	}
	if err := WriteProblems(filepath.Join(r.Out, "errors.csv"), r.problems); err != nil {
		return err
	}
	return r.summary.write(r.Out)
}

func (r *run) abort() {
	for _, o := range r.outputs {
		o.file.Abort()
	}
}
