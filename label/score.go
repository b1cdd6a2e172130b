package label

import (
	"crypto/sha256"
	"fmt"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
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
	// Doubt is how many photos a person's answer about this one would settle, if the rows
	// were compared with each other (package adapt), otherwise 0.
	Doubt float64
	// Rejected reports that the image looks like no known class.
	Rejected bool
	// By says who gave Prediction.Label, "" is the head; At is when a person did, zero if that is
	// not known.
	By By
	At time.Time
	// Labels are those of a photo that shows several things, as a person decided: it is then
	// of no class.
	Labels []string
	// CopyOf is the content of the photo that is kept instead of one that was set aside as its copy, otherwise zero.
	CopyOf [sha256.Size]byte
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
	head     classifier.Head
	varier   classifier.Varier // or nil
	items    []embedding.Item
	x        []float32      // batchRows×d
	logProb  blas64.General // batchRows×C
	novelty  []float64      // batchRows
	variance []float64      // batchRows
}

func newBatch(head classifier.Head, varier classifier.Varier) (*batch, error) {
	if head == nil || len(head.Classes()) == 0 {
		return nil, classifier.ErrNotFitted
	}
	return &batch{
		head: head, varier: varier, logProb: dense.New(batchRows, len(head.Classes())),
		novelty: make([]float64, batchRows), variance: make([]float64, batchRows),
	}, nil
}

// add takes an item that has an embedding, and flushes the batch when it is
// full.
func (b *batch) add(item embedding.Item, scored func() error) error {
	if d := b.head.Dim(); len(item.Vector) != d {
		return fmt.Errorf("classify %s: its embedding has %d dimensions, the model %d", item.Sample.Path,
			len(item.Vector), d)
	}
	b.items = append(b.items, item)
	b.x = append(b.x, item.Vector...)
	if len(b.items) < batchRows {
		return nil
	}
	return b.flush(scored)
}

// flush scores the collected rows, calls scored and empties the batch.
func (b *batch) flush(scored func() error) error {
	n, d := len(b.items), b.head.Dim()
	if n == 0 {
		return nil
	}
	for range batchRows - n {
		b.x = append(b.x, b.x[:d]...)
	}
	x := blas32.General{Rows: batchRows, Cols: d, Stride: d, Data: b.x}
	err := b.head.Score(b.logProb, b.novelty, x)
	if err == nil && b.varier != nil {
		err = b.varier.Variance(b.variance, x)
	}
	if err != nil {
		return fmt.Errorf("classify %s and the %d images after it: %w", b.items[0].Sample.Path, n-1, err)
	}
	if err := scored(); err != nil {
		return err
	}
	clear(b.items) // frees the vectors
	b.items, b.x = b.items[:0], b.x[:0]
	return nil
}

// score scores, in batches, the items that each gives to its argument, but for those without an
// embedding, and calls scored with what the head says of every one.
func score(head classifier.Head, varier classifier.Varier, each func(func(embedding.Item) error) error,
	scored func(item embedding.Item, logProb []float64, novelty, variance float64) error) error {
	b, err := newBatch(head, varier)
	if err != nil {
		return err
	}
	all := func() error {
		for i, item := range b.items {
			if err := scored(item, dense.Row(b.logProb, i), b.novelty[i], b.variance[i]); err != nil {
				return err
			}
		}
		return nil
	}
	err = each(func(item embedding.Item) error {
		if item.Err != nil {
			return nil
		}
		return b.add(item, all)
	})
	if err != nil {
		return err
	}
	return b.flush(all)
}

// row returns what is known of an item that was scored, and that people decided about unless d is nil.
func (s Scorer) row(item embedding.Item, d *Decision, logProb []float64, novelty, variance float64) Scored {
	row := Scored{
		Sample: item.Sample, Content: item.Hash, Embedding: item.Vector, LogProb: logProb, Variance: variance,
		Rejected: novelty > s.Threshold.Novelty(),
	}
	row.Prediction = classifier.FromLogProb(s.Head.Classes(), logProb, s.TopK)
	row.Prediction.Novelty = novelty
	if s.Unseen != nil {
		row.New = new(s.Unseen.P(novelty, s.NewShare))
	}
	if d != nil {
		row.decide(*d, s.Head.Classes())
	} else if box := item.Sample.Box; box != nil && box.Kept {
		row.detected(box)
	}
	if s.Events != nil {
		row.Event = s.Events(row)
	}
	if s.Split != nil {
		row.Split = s.Split(item.Hash)
	}
	return row
}

// Answer returns a Row for each item, identical to those that a Job writes. All
// items must have embeddings. It serves as worker.Worker.Answer.
func (s Scorer) Answer(items []embedding.Item) ([]any, error) {
	var rows []any
	each := func(add func(embedding.Item) error) error {
		for _, item := range items {
			if err := add(item); err != nil {
				return err
			}
		}
		return nil
	}
	err := score(s.Head, s.Varier, each, func(item embedding.Item, logProb []float64, novelty, variance float64) error {
		rows = append(rows, newRow(s.row(item, s.Decided.find(item), logProb, novelty, variance)))
		return nil
	})
	return rows, err
}
