package label

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/embed"
)

// A batch gathers embeddings to be classified together.
type batch struct {
	head  classifier.Head
	topK  int
	items []embed.Item
	x     []float32 // batchRows×d
}

// add takes an item that has an embedding.
func (b *batch) add(item embed.Item) error {
	if d := b.head.Dim(); len(item.Vector) != d {
		return fmt.Errorf("classify %s: its embedding has %d dimensions, the model %d", item.Sample.Path, len(item.Vector), d)
	}
	b.items = append(b.items, item)
	b.x = append(b.x, item.Vector...)
	return nil
}

func (b *batch) full() bool { return len(b.items) == batchRows }

// classify hands what was gathered, with its prediction, to emit and empties
// the batch.
func (b *batch) classify(emit func(embed.Item, classifier.Prediction) error) error {
	n := len(b.items)
	if n == 0 {
		return nil
	}
	d := b.head.Dim()
	for range batchRows - n {
		b.x = append(b.x, b.x[:d]...)
	}
	predictions, err := classifier.Predict(b.head, blas32.General{Rows: batchRows, Cols: d, Stride: d, Data: b.x}, b.topK)
	if err != nil {
		return fmt.Errorf("classify %s and the %d images after it: %w", b.items[0].Sample.Path, n-1, err)
	}
	for i, item := range b.items {
		if err := emit(item, predictions[i]); err != nil {
			return err
		}
	}
	clear(b.items) // lets go of the vectors
	b.items, b.x = b.items[:0], b.x[:0]
	return nil
}
