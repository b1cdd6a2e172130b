package orttest

import (
	"errors"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// Run feeds x (rows×cols) into the input "x" of a model and returns its output
// "y" (rows×outputs).
func Run(tb testing.TB, model []byte, x []float32, rows, cols, outputs int) []float32 {
	tb.Helper()
	rt := Open(tb)
	s := must.Get(rt.NewSession(model, []string{"x"}, []string{"y"}, ort.CPU))(tb)
	in := must.Get(rt.WrapTensor(x, int64(rows), int64(cols)))(tb)
	out := must.Get(rt.NewTensor(int64(rows), int64(outputs)))(tb)
	must.Do(tb, s.Run([]*ort.Tensor{in}, []*ort.Tensor{out}))
	got := append([]float32(nil), out.Data()...)
	must.Do(tb, errors.Join(in.Close(), out.Close(), s.Close()))
	return got
}
