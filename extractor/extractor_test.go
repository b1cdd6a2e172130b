package extractor

import (
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func modelBytes(tb testing.TB, name string) []byte {
	tb.Helper()
	return must.Get(os.ReadFile(filepath.Join("testdata", name+".onnx")))(tb)
}

// openTiny opens one of the committed models with a changed configuration.
func openTiny(tb testing.TB, name string, change func(*Config)) *Extractor {
	tb.Helper()
	e := must.Get(tryTiny(tb, name, change))(tb)
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e
}

func tryTiny(tb testing.TB, name string, change func(*Config)) (*Extractor, error) {
	tb.Helper()
	cfg := DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	return Open(orttest.Open(tb), modelBytes(tb, name), name+".onnx", cfg)
}

func newMatrix(rows, cols int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
}

// rampPhoto returns a side×side photo whose value in colour c of pixel p (row
// by row) is scale·(8c + p/16).
func rampPhoto(side int, scale float32) []float32 {
	plane := side * side
	chw := make([]float32, 3*plane)
	for c := range 3 {
		for p := range plane {
			chw[c*plane+p] = scale * (float32(8*c) + float32(p)/16)
		}
	}
	return chw
}

// rampMeans returns the tiny models' embedding of rampPhoto: the colour means
// and r + 2g + 4b. mean(p) is (plane−1)/2.
func rampMeans(side int, scale float32) [4]float32 {
	half := float32(side*side-1) / 32
	r, g, b := scale*half, scale*(8+half), scale*(16+half)
	return [4]float32{r, g, b, r + 2*g + 4*b}
}
