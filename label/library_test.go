package label_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

// The packages below the application, used directly: this teaches a model
// from two folders and labels a third.
func Example_library() {
	photos, err := os.MkdirTemp("", "photos-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(photos)
	if err := paintAll(photos); err != nil {
		panic(err)
	}
	options := embedding.Options{}
	options.Cache = filepath.Join(photos, "cache")
	in := func(name string) string { return filepath.Join(photos, name) }
	ctx, file := context.Background(), in("views.model")
	if err := teach(ctx, options, file, in("base"), in("new")); err != nil {
		fmt.Println(err)
	}
	if err := labelFolder(ctx, options, file, in("unsorted"), in("labels")); err != nil {
		fmt.Println(err)
	}
	// Output:
	// learned 8 photos, new classes: [grass sky]
	// learned 2 photos, new classes: [sand]
	// 3 labelled, 0 failed
}

// A classifier without photos.
func Example_embeddings() {
	if err := classify(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// [cat dog newt]
	// newt
}

func teach(ctx context.Context, options embedding.Options, file string, folders ...string) error {
	embedder, err := embedding.Open(options)
	if err != nil {
		return err
	}
	defer embedder.Close()
	var m *model.Model
	for _, folder := range folders {
		photos, err := dataset.Walk(ctx, folder, dataset.ScanOptions{}) // a folder in it is a class
		if err != nil {
			return err
		}
		rows, err := embedding.Collect(ctx, embedder.Embed(photos))
		if err != nil {
			return err
		}
		var learned model.Outcome
		if m == nil {
			settings := model.Settings{Provenance: rows.Provenance}
			m, learned, err = model.Train(ctx, settings, model.NewBatch(rows))
		} else {
			learned, err = m.Learn(ctx, model.NewBatch(rows))
		}
		if err != nil {
			return err
		}
		fmt.Println("learned", learned.Added, "photos, new classes:", learned.NewClasses)
	}
	return m.Save(file)
}

func labelFolder(ctx context.Context, options embedding.Options, file, folder, out string) error {
	m, err := model.Load(file)
	if err != nil {
		return err
	}
	embedder, err := embedding.OpenFor(m.Provenance, options)
	if err != nil {
		return err
	}
	defer embedder.Close()
	photos, err := dataset.Walk(ctx, folder, dataset.ScanOptions{})
	if err != nil {
		return err
	}
	summary, err := label.Job{
		Head:   m.Predictor,
		Images: embedder.Embed(photos),
		Out:    out,
	}.Run(ctx)
	fmt.Println(summary.Labelled, "labelled,", summary.Failed, "failed")
	return err
}

func classify(ctx context.Context) error {
	head, err := method.New("plda", method.Config{})
	if err != nil {
		return err
	}
	base := blas32.General{Rows: 4, Cols: 3, Stride: 3, Data: []float32{1, .1, 0, 1, .2, 0, .1, 1, 0, .3, 1, 0}}
	if err := head.Learn(ctx, base, []string{"cat", "cat", "dog", "dog"}); err != nil {
		return err
	}
	later := blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: []float32{.1, .1, 1}}
	if err := head.Learn(ctx, later, []string{"newt"}); err != nil {
		return err
	}
	rows := blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: []float32{.2, 0, 1}}
	predictions, err := classifier.Predict(head, rows, 1)
	if err != nil {
		return err
	}
	fmt.Println(head.Classes())
	fmt.Println(predictions[0].Label)
	return nil
}
