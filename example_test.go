package pipeline_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed-90d10d51/pipeline"
)

func Example() {
	ctx := context.Background()
	p, err := pipeline.Open(ctx)
	if err != nil {
		log.Fatal(err)
	}
	rows := [][]float32{{1, 0.1, 0}, {1, 0.2, 0}, {0.1, 1, 0}, {0.3, 1, 0}, {0, 0.1, 1}, {0.1, 0, 1}}
	labels := []string{"cat", "cat", "dog", "dog", "newt", "newt"}
	m, err := p.Fit(ctx, rows, labels, pipeline.Method("ncm"))
	if err != nil {
		log.Fatal(err)
	}
	predictions, err := m.Predict(ctx, [][]float32{{0.2, 0, 1}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Classes(), predictions[0].Label)
	// Output: [cat dog newt] newt
}
