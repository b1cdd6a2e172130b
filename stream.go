package pipeline

import (
	"context"
	"io"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/worker"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/teach"
)

// A StreamRequest says where photos are asked about, one per line, and where the answers go.
type StreamRequest struct {
	// Model is the file of the model that labels, "" to answer embeddings.
	Model string
	// Images is the folder that paths are relative to.
	Images string
	In     io.Reader
	Out    io.Writer
	// Settings are those of labels.
	Settings label.Config
	OldShare model.OldShare // as in LearnRequest
}

// Stream answers requests for labels or embeddings until In ends. The error is a PartialError if
// some photos could not be read: the answer to each says why.
func (s *Studio) Stream(ctx context.Context, q StreamRequest) (err error) {
	r := s.begin(ctx)
	var e *embedding.Embedder
	answer := embeddings
	if q.Model == "" {
		e, err = embedding.Open(r.embed)
	} else {
		e, answer, err = r.labeller(q)
	}
	if err != nil {
		return err
	}
	defer closeInto(e, &err)
	outcome, err := worker.Worker{Embedder: e, Root: q.Images, In: q.In, Out: q.Out, Answer: answer}.Run(ctx)
	if err != nil {
		return err
	}
	return partial(outcome.Failed, "the answer to each")
}

// labeller opens the network of a model and returns what labels its embeddings.
func (r *run) labeller(q StreamRequest) (*embedding.Embedder, func([]embedding.Item) ([]any, error), error) {
	m, err := r.loadShared(q.Model, q.OldShare)
	if err != nil {
		return nil, nil, err
	}
	threshold, err := m.Threshold(q.Settings.Reject)
	if err != nil {
		return nil, nil, err
	}
	scorer := q.Settings.Scorer(m.Predictor, label.Above(threshold), m.Predictor.Calibration)
	if scorer.Decided, err = teach.Decided(q.Model, m); err != nil {
		return nil, nil, err
	}
	e, _, err := r.openFor(m)
	return e, scorer.Answer, err
}

// embedded is the answer to one request for an embedding.
type embedded struct {
	Path      string    `json:"path"`
	Embedding []float32 `json:"embedding"`
}

func embeddings(items []embedding.Item) ([]any, error) {
	answers := make([]any, len(items))
	for i, item := range items {
		answers[i] = embedded{dataset.EscapePath(item.Sample.Path), item.Vector}
	}
	return answers, nil
}
