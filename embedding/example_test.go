package embedding_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
)

// A folder with one photo, through the network that is built in. It needs ONNX Runtime
// (pipeline setup).
func Example() {
	folder, err := os.MkdirTemp("", "photos")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	if err := paint(filepath.Join(folder, "night.png")); err != nil {
		panic(err)
	}
	if err := embedFolder(context.Background(), folder); err != nil {
		fmt.Println(err)
	}
	// Output:
	// night.png: 1280 values
}

func embedFolder(ctx context.Context, folder string) error {
	options := embedding.Options{}
	options.Cache = filepath.Join(folder, "cache")
	embedder, err := embedding.Open(options)
	if err != nil {
		return err
	}
	defer embedder.Close()
	photos, err := dataset.Walk(ctx, folder, dataset.ScanOptions{})
	if err != nil {
		return err
	}
	rows, err := embedding.Collect(ctx, embedder.Embed(photos))
	if err != nil {
		return err
	}
	for _, s := range rows.Samples {
		fmt.Printf("%s: %d values\n", s.Path, rows.X.Cols)
	}
	return nil
}

// paint writes a picture.
func paint(file string) error {
	picture := image.NewGray(image.Rect(0, 0, 96, 96))
	picture.SetGray(48, 48, color.Gray{200})
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := png.Encode(f, picture); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
