package worker_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label/worker"
)

// Each line is answered, in order, whatever becomes of it.
func Example() {
	_, err := worker.Worker{
		Embedder: lengths{}, // an *embedding.Embedder in real use
		In:       strings.NewReader("photo.jpg\n{\"path\":\"cat/1.jpg\",\"id\":17}\n"),
		Out:      os.Stdout,
		Answer:   answer, // label.Scorer.Answer in real use
	}.Run(context.Background())
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"path":"photo.jpg","length":9}
	// {"id":17,"path":"cat/1.jpg","length":9}
}

// lengths takes the length of a path for the embedding of the photo.
type lengths struct{}

func (lengths) EmbedSeq(_ context.Context, _ string, samples iter.Seq[dataset.Sample],
	emit func(embedding.Item) error) (c embedding.Counts, err error) {
	for s := range samples {
		if err := emit(embedding.Item{Sample: s, Vector: []float32{float32(len(s.Path))}}); err != nil {
			return c, err
		}
	}
	return c, nil
}

func answer(items []embedding.Item) (answers []any, err error) {
	for _, item := range items {
		answers = append(answers, struct {
			Path   string  `json:"path"`
			Length float32 `json:"length"`
		}{item.Sample.Path, item.Vector[0]})
	}
	return answers, nil
}
