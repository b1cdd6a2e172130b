package split_test

import (
	"context"
	"crypto/sha256"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/split"
)

// Ten photos of two classes: eight to train with, two to test with, of each class its share.
func Example() {
	head, err := ncm.New(ncm.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	x := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 0, 0, 1}}
	if err := head.Learn(context.Background(), x, []string{"cat", "dog"}); err != nil {
		fmt.Println(err)
		return
	}
	var photos rows
	for i := range 10 {
		row := []float32{0.1 * float32(i), 0.1 * float32(i)}
		row[i%2]++
		content := sha256.Sum256([]byte{byte(i)}) // of the file in real use
		sample := dataset.Sample{Path: fmt.Sprint(i, ".jpg")}
		photos = append(photos, embedding.Item{Sample: sample, Vector: row, Hash: content})
	}
	pass := label.Pass{Scorer: label.Scorer{Head: head, TopK: 1}, Rows: photos}
	plan, err := split.Deal(context.Background(), pass, split.Shares{80, 20}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	parts := map[string]int{}
	for _, p := range photos {
		parts[plan.Of(p.Hash)]++
	}
	fmt.Println(parts)
	// Output: map[test:2 train:8]
}

// rows stand for Embedder.Embed of photos, or a feature folder.
type rows []embedding.Item

func (r rows) Provenance() embedding.Provenance { return embedding.Provenance{Dim: 2} }

func (r rows) Each(_ context.Context, emit func(embedding.Item) error) (o embedding.Outcome, err error) {
	for _, item := range r {
		if err := emit(item); err != nil {
			return o, err
		}
	}
	return o, nil
}
