package model

import (
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
)

// NewBatch returns a Batch of e, whose memory it shares.
func NewBatch(e embedding.Embeddings) Batch {
	b := Batch{X: e.X, Content: e.Content}
	for _, s := range e.Samples {
		b.Labels = append(b.Labels, dataset.EscapePath(s.Label))
		b.Paths = append(b.Paths, s.Path)
	}
	return b
}
