package orttest

import (
	"errors"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/ort"
)

// Run feeds x (rows×cols) into the input "x" of a model and returns its output
// "y" (rows×outputs).
func Run(tb testing.TB, model []byte, x []float32, rows, cols, outputs int) []float32 {
	tb.Helper()
	rt := Open(tb)
	s, err := rt.NewSession(model, []string{"x"}, []string{"y"}, ort.CPU)
	if err != nil {
		tb.Fatal(err)
	}
	in, err := rt.WrapTensor(x, int64(rows), int64(cols))
	if err != nil {
		tb.Fatal(err)
	}
	out, err := rt.NewTensor(int64(rows), int64(outputs))
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.Run([]*ort.Tensor{in}, []*ort.Tensor{out}); err != nil {
		tb.Fatal(err)
	}
	got := append([]float32(nil), out.Data()...)
	if err := errors.Join(in.Close(), out.Close(), s.Close()); err != nil {
		tb.Fatal(err)
	}
	return got
}
