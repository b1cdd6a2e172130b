package label_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

// Embed a folder with the built-in backbone, train on its classes, learn a new
// one from two images, and label unsorted images. It needs ONNX Runtime
// (pipeline setup).
func Example() {
	ctx := context.Background()
	photos, err := os.MkdirTemp("", "photos-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(photos)
	if err := paintAll(photos); err != nil {
		panic(err)
	}
	if err := teachAndLabel(ctx, photos); err != nil {
		fmt.Println(err)
	}
	// Output:
	// base session: 8 images of [grass sky]
	// next session: 2 images of [sand]
	// a.png grass
	// b.png sand
	// c.png sky
	// 3 labelled, 0 failed
}

func teachAndLabel(ctx context.Context, photos string) error {
	options := embedding.Options{}
	options.Cache = filepath.Join(photos, "cache")
	embedder, err := embedding.Open(options)
	if err != nil {
		return err
	}
	defer embedder.Close()
	classes, err := collect(ctx, embedder, filepath.Join(photos, "base"))
	if err != nil {
		return err
	}
	settings := model.Settings{Method: "ncm", Heads: method.DefaultConfig(), Provenance: classes.Provenance}
	m, outcome, err := model.Train(ctx, settings, model.NewBatch(classes))
	if err != nil {
		return err
	}
	fmt.Println("base session:", outcome.Added, "images of", outcome.NewClasses)
	shots, err := collect(ctx, embedder, filepath.Join(photos, "new"))
	if err != nil {
		return err
	}
	if outcome, err = m.Learn(ctx, model.NewBatch(shots)); err != nil {
		return err
	}
	fmt.Println("next session:", outcome.Added, "images of", outcome.NewClasses)
	unsorted, err := dataset.Walk(ctx, filepath.Join(photos, "unsorted"), dataset.ScanOptions{})
	if err != nil {
		return err
	}
	summary, err := label.Job{
		Head:   m.Predictor,
		Images: embedder.Embed(unsorted), Out: filepath.Join(photos, "labels"), Sinks: []label.Sink{printer{}},
	}.Run(ctx)
	fmt.Println(summary.Labelled, "labelled,", summary.Failed, "failed")
	return err
}

// A printer is a custom sink.
type printer struct{}

func (printer) Put(row label.Scored) error {
	fmt.Println(row.Sample.Path, row.Prediction.Label)
	return nil
}

func (printer) Commit(embedding.Outcome) error { return nil }
func (printer) Abort()                         {}

// collect embeds a folder whose sub-folders are classes.
func collect(ctx context.Context, e *embedding.Embedder, dir string) (embedding.Embeddings, error) {
	images, err := dataset.Walk(ctx, dir, dataset.ScanOptions{})
	if err != nil {
		return embedding.Embeddings{}, err
	}
	return embedding.Collect(ctx, e.Embed(images))
}

// paintAll writes small pictures of grass, sky and sand.
func paintAll(dir string) error {
	grass, sky, sand := color.RGBA{60, 140, 50, 255}, color.RGBA{120, 180, 250, 255}, color.RGBA{220, 190, 120, 255}
	errs := []error{
		paint(filepath.Join(dir, "new", "sand", "0.png"), sand, 10),
		paint(filepath.Join(dir, "new", "sand", "1.png"), sand, 11),
		paint(filepath.Join(dir, "unsorted", "a.png"), grass, 20),
		paint(filepath.Join(dir, "unsorted", "b.png"), sand, 21),
		paint(filepath.Join(dir, "unsorted", "c.png"), sky, 22),
	}
	for i := range uint64(4) {
		name := fmt.Sprintf("%d.png", i)
		errs = append(errs, paint(filepath.Join(dir, "base", "grass", name), grass, i),
			paint(filepath.Join(dir, "base", "sky", name), sky, i))
	}
	return errors.Join(errs...)
}

// paint writes a noisy picture of one colour.
func paint(file string, c color.RGBA, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 0))
	picture := image.NewRGBA(image.Rect(0, 0, 96, 96))
	for y := range 96 {
		for x := range 96 {
			noise := uint8(rng.IntN(30))
			picture.SetRGBA(x, y, color.RGBA{c.R - noise, c.G - noise, c.B - noise, 255})
		}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(f, picture), f.Close())
}
