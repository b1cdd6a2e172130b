package extractor_test

import (
	"fmt"
	"os"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/extractor"
	"github.com/seed-90d10d51/pipeline/internal/ort"
)

// Example embeds one grey photo. It needs the ONNX Runtime library, so it is
// compiled but not run by the tests.
func Example() {
	if err := embedGrey("resnet18.onnx"); err != nil {
		fmt.Println(err)
	}
}

func embedGrey(path string) error {
	lib, _, err := ort.Locate("")
	if err != nil {
		return err
	}
	rt, err := ort.Open(lib)
	if err != nil {
		return err
	}
	model, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	cfg := extractor.DefaultConfig()
	cfg.Output = extractor.Penultimate // it is a classification network
	e, err := extractor.Open(rt, model, path, cfg)
	if err != nil {
		return err
	}
	defer e.Close()
	pixels := make([]float32, 3*e.Side()*e.Side())
	embedding := blas32.General{Rows: 1, Cols: e.Dim(), Stride: e.Dim(), Data: make([]float32, e.Dim())}
	return e.Extract(embedding, pixels)
}
