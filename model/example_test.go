package model_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

func rows(labels []string, values ...float32) model.Batch {
	x := blas32.General{Rows: len(labels), Cols: 2, Stride: 2, Data: values}
	return model.Batch{X: x, Labels: labels, Content: embedding.HashRows(x)}
}

// Train, save, load, learn: and learn the same again.
func Example() {
	if err := learnTwice(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// base session: 4 added, classes [cat dog]
	// second session: 1 added, new [owl]
	// the same again: 0 added, 1 already known
}

func learnTwice() error {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "pets.model")
	ctx := context.Background()

	base := rows([]string{"cat", "cat", "dog", "dog"}, 5, 1, 6, 1, 1, 5, 1, 6)
	m, o, err := model.Train(ctx, model.Settings{Method: "ncm", Heads: method.DefaultConfig()}, base)
	if err != nil {
		return err
	}
	fmt.Printf("base session: %d added, classes %v\n", o.Added, o.NewClasses)
	if err := m.Save(path); err != nil {
		return err
	}

	if m, err = model.Load(path); err != nil {
		return err
	}
	owl := rows([]string{"owl"}, -5, -5)
	if o, err = m.Learn(ctx, owl); err != nil {
		return err
	}
	fmt.Printf("second session: %d added, new %v\n", o.Added, o.NewClasses)
	if o, err = m.Learn(ctx, owl); err != nil {
		return err
	}
	fmt.Printf("the same again: %d added, %d already known\n", o.Added, o.AlreadyKnown)
	return m.Save(path)
}
