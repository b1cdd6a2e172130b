package adapt_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/adapt"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

// Two photos of each class, and a folder of forty that nobody has named.
func Example() {
	if err := adaptToFolder(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: compared 40 different images with each other
}

func adaptToFolder(ctx context.Context) error {
	learned := photosOf(2, 1)
	shown, err := embedding.Collect(ctx, learned)
	if err != nil {
		return err
	}
	settings := model.Settings{Method: "plda", Heads: method.DefaultConfig()}
	m, _, err := model.Train(ctx, settings, model.NewBatch(shown))
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	head, kept, err := adapt.Fit(ctx, m, label.Scorer{}, photosOf(10, 2), temp)
	if err != nil {
		return err
	}
	defer kept.Close()
	fmt.Println(head.Note())
	return nil
}

// rows stand for Embedder.Embed of photos, or a feature folder.
type rows []embedding.Item

// photosOf returns n photos of each of four classes, which are drawn by a seed.
func photosOf(n int, seed uint64) (photos rows) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range 4 * n {
		class := []string{"bat", "cat", "dog", "owl"}[i%4]
		x := make([]float32, 8)
		for j := range x {
			x[j] = float32(0.3 * rng.NormFloat64())
		}
		x[i%4]++
		sample := dataset.Sample{Path: fmt.Sprintf("%s/%d.jpg", class, i), Label: class}
		photos = append(photos, embedding.Item{Sample: sample, Vector: x, Hash: embedding.HashRow(x)})
	}
	return photos
}

func (r rows) Provenance() embedding.Provenance { return embedding.Provenance{Dim: 8} }

func (r rows) Each(_ context.Context, emit func(embedding.Item) error) (o embedding.Outcome, err error) {
	for _, item := range r {
		if err := emit(item); err != nil {
			return o, err
		}
	}
	return o, nil
}
