package label

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// batchRows embeddings are classified at a time, always exactly so many: a
// batch that has fewer is filled up by repeating its first row. So the bits of a
// row do not depend on how a run was cut into jobs, shards or worker calls.
const batchRows = 64

// An Embedder turns samples into embeddings and emits them in input order.
type Embedder interface {
	RunSeq(ctx context.Context, root string, samples iter.Seq[dataset.Sample], emit func(embed.Item) error) (embed.Counts, error)
}

// A Job labels the images of a source, in memory that does not grow with their
// number; only failures are kept.
type Job struct {
	Config   Config
	Head     classifier.Head
	Embedder Embedder
	// Threshold is the novelty above which an image is rejected, +Inf to
	// reject nothing.
	Threshold float64
	Images    *dataset.Source
	// Out is the folder of the results; it is made when missing.
	Out string
	// Sinks get every labelled image too.
	Sinks []Sink
	// Settings and Hashes go into summary.json.
	Settings map[string]any
	Hashes   map[string]string
}

// Run labels every image, writes the result files and returns their summary.
// Images that fail are rows of errors.csv, not errors. A second job on the
// same folder is refused.
func (j Job) Run(ctx context.Context) (Summary, error) {
	r := run{Job: j}
	defer r.abort()
	unlock, err := lock(j.Out)
	if err != nil {
		return Summary{}, err
	}
	defer unlock()
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
	outputs  []*output
	batch    batch
	problems []dataset.Problem
	summary  Summary
}

func (r *run) all(ctx context.Context) (Summary, error) {
	start := time.Now()
	if err := r.createOutputs(); err != nil {
		return r.summary, err
	}
	r.batch = batch{head: r.Head, topK: r.Config.TopK}
	counts, err := r.Embedder.RunSeq(ctx, r.Images.Root(), r.Images.Samples(ctx), r.take)
	if err != nil {
		return r.summary, err
	}
	found, err := r.Images.Outcome()
	if err != nil {
		return r.summary, err
	}
	if err := r.batch.classify(r.write); err != nil {
		return r.summary, err
	}
	r.problems = append(r.problems, found.Problems...)
	r.summarise(counts, found.Skipped, time.Since(start))
	return r.summary, r.commit()
}

func (r *run) createOutputs() error {
	for _, format := range r.Config.Format {
		o, err := createOutput(r.Out, format, r.Config.RowsPerFile)
		r.outputs = append(r.outputs, o)
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *run) take(item embed.Item) error {
	if item.Err != nil {
		r.problems = append(r.problems, dataset.Problem{Path: item.Sample.Path, Err: item.Err})
		return nil
	}
	if err := r.batch.add(item); err != nil || !r.batch.full() {
		return err
	}
	return r.batch.classify(r.write)
}

func (r *run) write(item embed.Item, p classifier.Prediction) error {
	rejected := p.Novelty > r.Threshold
	if rejected {
		r.summary.Rejected++
	}
	r.summary.Labelled++
	row := newRow(item.Sample.Path, p, rejected)
	for _, o := range r.outputs {
		if err := o.write(row); err != nil {
			return fmt.Errorf("write labels: %w", err)
		}
	}
	return r.feed(Labelled{Path: item.Sample.Path, Given: item.Sample.Label, Row: row, Prediction: p, Vector: item.Vector})
}

func (r *run) summarise(counts embed.Counts, skipped map[string]int, took time.Duration) {
	took = max(took, time.Nanosecond) // a coarse clock must not make it infinite
	r.summary.Failed = len(r.problems)
	r.summary.Skipped = skipped
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
		names, err := o.commit()
		if err != nil {
			return fmt.Errorf("write labels: %w", err)
		}
		r.summary.Files = append(r.summary.Files, names...)
	}
	for _, s := range r.Sinks {
		if err := s.Commit(r.problems); err != nil {
			return err
		}
	}
	if err := WriteProblems(filepath.Join(r.Out, "errors.csv"), r.problems); err != nil {
		return err
	}
	return r.summary.write(r.Out)
}

func (r *run) abort() {
	for _, o := range r.outputs {
		o.abort()
	}
	for _, s := range r.Sinks {
		s.Abort()
	}
}
