package label

import (
	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/embed"
)

// A Responder answers single requests with the rows that a Job would write, to
// the last digit.
type Responder struct {
	Head classifier.Head
	TopK int
	// Threshold is as in Job.
	Threshold float64
}

// Answer returns a Row for each item; all of them must have embeddings. It is
// made for worker.Worker.
func (r Responder) Answer(items []embed.Item) ([]any, error) {
	b := batch{head: r.Head, topK: r.TopK}
	var rows []any
	emit := func(item embed.Item, p classifier.Prediction) error {
		rows = append(rows, newRow(item.Sample.Path, p, p.Novelty > r.Threshold))
		return nil
	}
	for _, item := range items {
		if err := b.add(item); err != nil {
			return nil, err
		}
		if b.full() {
			if err := b.classify(emit); err != nil {
				return nil, err
			}
		}
	}
	return rows, b.classify(emit)
}
