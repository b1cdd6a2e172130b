package label

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// batchRows is the number of embeddings scored at a time. It never varies: a
// shorter batch is padded by repeating its first row. So the bits of a result
// do not depend on how a run is split into jobs, shards or worker calls.
const batchRows = 64

// A Scored row is everything that a head predicts for one embedding.
type Scored struct {
	// Sample has the unescaped file name and the class given by the folder or
	// list; Content is the SHA-256 of the file, or of the row if there is no
	// file.
	Sample  dataset.Sample
	Content [sha256.Size]byte
	// Embedding has length d; the receiver may retain it.
	Embedding  []float32
	Prediction classifier.Prediction
	// LogProb holds log p(class | x) in nats, in the order of Head.Classes. It
	// is valid until Put returns.
	LogProb []float64
	// Variance is the predictive variance, if Scorer.Varier is set.
	Variance float64
	// New is the probability that the image is of no class that the head has learned, nil
	// if it is not known.
	New *float64
	// Rejected reports that the image looks like no known class.
	Rejected bool
	// By says who gave Prediction.Label, "" is the head; At is when a person did, zero if that is
	// not known.
	By By
	At time.Time
	// Labels are those of a photo that shows several things, as a person decided: it is then
	// of no class.
	Labels []string
	// Split is the part that the photo belongs to, "" if they are not divided.
	Split string
	// Event is what is known about the event of the photo, nil without events.
	Event *Event
}

// An Event is what one photo is told by the others that its camera took at that time.
type Event struct {
	// Name is unique in a job.
	Name string
	// Label is the class of the event that the photo shows best, "" if nothing is known;
	// Probability is that of Label given all photos of the event.
	Label       string
	Probability float64
}

// A Scorer scores embeddings.
type Scorer struct {
	Head classifier.Head
	// TopK is the number of ranked classes in a Prediction.
	TopK int
	// Threshold is the novelty above which a row is rejected; the zero value rejects
	// nothing.
	Threshold Threshold
	// Unseen tells new classes from known ones, unless nil, if a share NewShare of the
	// images is of new ones.
	Unseen   *calibration.Unseen
	NewShare float64
	// Decided, unless nil, tells what people decided, which rules.
	Decided Decisions
	// Events, unless nil, tells of the event of a row.
	Events func(Scored) *Event
	// Split, unless nil, names the part of a split that a file belongs to.
	Split func(content [sha256.Size]byte) string
	// Varier, unless nil, computes the variance of every row.
	Varier classifier.Varier
}

// Scorer returns the Scorer of a head about which held is known.
func (c Config) Scorer(head classifier.Head, threshold Threshold, held calibration.Calibration) Scorer {
	c = c.resolved()
	return Scorer{Head: head, TopK: c.TopK, Threshold: threshold, Unseen: held.Unseen, NewShare: c.NewShare}
}

// A batch collects rows to be scored together.
type batch struct {
	Scorer
	items    []embed.Item
	x        []float32      // batchRows×d
	logProb  blas64.General // batchRows×C
	novelty  []float64      // batchRows
	variance []float64      // batchRows
}

func (s Scorer) newBatch() (*batch, error) {
	if s.Head == nil || len(s.Head.Classes()) == 0 {
		return nil, classifier.ErrNotFitted
	}
	return &batch{
		Scorer: s, logProb: dense.New(batchRows, len(s.Head.Classes())),
		novelty: make([]float64, batchRows), variance: make([]float64, batchRows),
	}, nil
}

// add takes an item that has an embedding, and flushes the batch when it is
// full.
func (b *batch) add(item embed.Item, emit func(Scored) error) error {
	if d := b.Head.Dim(); len(item.Vector) != d {
		return fmt.Errorf("classify %s: its embedding has %d dimensions, the model %d", item.Sample.Path,
			len(item.Vector), d)
	}
	b.items = append(b.items, item)
	b.x = append(b.x, item.Vector...)
	if len(b.items) < batchRows {
		return nil
	}
	return b.flush(emit)
}

// flush scores the collected rows, passes them to emit and empties the batch.
func (b *batch) flush(emit func(Scored) error) error {
	n, d := len(b.items), b.Head.Dim()
	if n == 0 {
		return nil
	}
	for range batchRows - n {
		b.x = append(b.x, b.x[:d]...)
	}
	x := blas32.General{Rows: batchRows, Cols: d, Stride: d, Data: b.x}
	err := b.Head.Score(b.logProb, b.novelty, x)
	if err == nil && b.Varier != nil {
		err = b.Varier.Variance(b.variance, x)
	}
	if err != nil {
		return fmt.Errorf("classify %s and the %d images after it: %w", b.items[0].Sample.Path, n-1, err)
	}
	limit := b.Threshold.Novelty()
	for i, item := range b.items {
		row := Scored{
			Sample: item.Sample, Content: item.Hash, Embedding: item.Vector,
			LogProb: dense.Row(b.logProb, i), Variance: b.variance[i], Rejected: b.novelty[i] > limit,
		}
		row.Prediction = classifier.FromLogProb(b.Head.Classes(), row.LogProb, b.TopK)
		row.Prediction.Novelty = b.novelty[i]
		if b.Unseen != nil {
			row.New = new(b.Unseen.P(b.novelty[i], b.NewShare))
		}
		if d, ok := b.Decided.Of(item); ok {
			row.decide(d, b.Head.Classes())
		} else if box := item.Sample.Box; box != nil && box.Kept {
			row.detected(box)
		}
		if b.Events != nil {
			row.Event = b.Events(row)
		}
		if b.Split != nil {
			row.Split = b.Split(item.Hash)
		}
		if err := emit(row); err != nil {
			return err
		}
	}
	clear(b.items) // frees the vectors
	b.items, b.x = b.items[:0], b.x[:0]
	return nil
}

// Answer returns a Row for each item, identical to those that a Job writes. All
// items must have embeddings. It serves as worker.Worker.Answer.
func (s Scorer) Answer(items []embed.Item) ([]any, error) {
	b, err := s.newBatch()
	if err != nil {
		return nil, err
	}
	var rows []any
	emit := func(s Scored) error {
		rows = append(rows, newRow(s))
		return nil
	}
	for _, item := range items {
		if err := b.add(item, emit); err != nil {
			return nil, err
		}
	}
	return rows, b.flush(emit)
}

// A Sink receives every scored row, in order.
type Sink interface {
	// Put takes one row. An *ItemError concerns this row only; any other error
	// ends the pass.
	Put(Scored) error
	// Commit is called after the last row, with the outcome of the pass. [Refused]
	// concerns these images only, and the sinks after it see them in the outcome;
	// any other error ends the pass. Abort is always called, and does nothing after Commit.
	Commit(embed.Outcome) error
	Abort()
}

// A Lister is a Sink whose files belong to the results of a job.
type Lister interface {
	// Files returns their paths below the folder of the results, in order, once they are
	// committed.
	Files() []string
}

// An ItemError concerns one image only.
type ItemError struct{ Err error }

func (e *ItemError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ItemError) Unwrap() error { return e.Err }

// Refused are images that a sink could not finish when it was committed.
type Refused []dataset.Problem

func (r Refused) Error() string { return fmt.Sprintf("%s: %v", r[0].Path, r[0].Err) }

func abort(sinks []Sink) {
	for _, s := range sinks {
		s.Abort()
	}
}

// errNoRows means that a Pass or a Job has nothing to score.
var errNoRows = errors.New("no images are given: set Images of a Job, Rows of a Pass")

// A Pass scores every row once for any number of sinks. Its memory does not
// grow with the number of rows, only with failures.
type Pass struct {
	Scorer Scorer
	Rows   embed.Rows
	Sinks  []Sink
}

// Run passes all rows to all sinks, then commits the sinks in order.
func (p Pass) Run(ctx context.Context) (embed.Outcome, error) {
	defer abort(p.Sinks)
	if p.Rows == nil {
		return embed.Outcome{}, errNoRows
	}
	b, err := p.Scorer.newBatch()
	if err != nil {
		return embed.Outcome{}, err
	}
	var refused []dataset.Problem
	put := func(row Scored) error {
		for _, s := range p.Sinks {
			var item *ItemError
			if err := s.Put(row); errors.As(err, &item) {
				refused = append(refused, dataset.Problem{Path: row.Sample.Path, Err: item})
			} else if err != nil {
				return fmt.Errorf("%s: %w", row.Sample.Path, err)
			}
		}
		return nil
	}
	outcome, err := p.Rows.Each(ctx, func(item embed.Item) error {
		if item.Err != nil {
			return nil // listed in the outcome's problems
		}
		return b.add(item, put)
	})
	if err == nil {
		err = b.flush(put)
	}
	outcome.Problems = append(outcome.Problems, refused...)
	for _, s := range p.Sinks {
		if err != nil {
			break
		}
		var late Refused
		if err = s.Commit(outcome); errors.As(err, &late) {
			outcome.Problems, err = append(outcome.Problems, late...), nil
		}
	}
	return outcome, err
}
