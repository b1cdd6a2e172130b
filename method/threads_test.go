package method_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
	"github.com/seed-90d10d51/pipeline/method"
)

// clouds returns n examples of each of several classes.
func clouds(classes, n, d int) (blas32.General, []string) {
	rng := rand.New(rand.NewPCG(3, 3))
	x := dense.New32(classes*n, d)
	y := make([]string, x.Rows)
	for i := range x.Rows {
		y[i] = fmt.Sprint("class", i%classes)
		for j := range d {
			x.Data[i*d+j] = float32(rng.NormFloat64())
		}
		x.Data[i*d+i%classes] += 4
	}
	return x, y
}

// TestGaussianProcessesDoNotDependOnThreads checks that the same seed gives the
// same bytes with one thread and with eight, also after saving and loading, on
// every backend, and for sizes large enough for the backend to be used.
func TestGaussianProcessesDoNotDependOnThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, classes := range map[string]int{"gptree": 5, "gptree-random": 5, "sbm": 5, "lsm": 3, "ove": 3} {
		x, y := clouds(classes, 30, 12)
		cfg := configured("gptree.base", "gibbs", "gptree.calibrate", false)
		nativetest.Each(t, func(t *testing.T, m linalg.Backend) {
			type result struct {
				state classifier.State
				probs []float64
			}
			var results []result
			for _, threads := range []int{1, 8} {
				runtime.GOMAXPROCS(threads)
				h := must.Get(method.NewOn(m, name, cfg))(t)
				must.Do(t, h.Learn(context.Background(), x, y))
				s := must.Get(h.(classifier.Saver).Save())(t)
				results = append(results, result{s, probabilities(t, h, x)})
				loaded := must.Get(method.Load(name, s))(t)
				classifier.UseBackend(loaded, m)
				if !slices.Equal(probabilities(t, loaded, x), results[0].probs) {
					t.Errorf("%s, %d threads: the loaded head predicts something else", name, threads)
				}
			}
			if a, b := results[0], results[1]; !bytes.Equal(a.state.Settings, b.state.Settings) ||
				!reflect.DeepEqual(a.state.Tensors, b.state.Tensors) || !slices.Equal(a.probs, b.probs) {
				t.Errorf("%s: eight threads and one differ", name)
			}
		})
	}
}

func probabilities(t *testing.T, h classifier.Head, x blas32.General) []float64 {
	t.Helper()
	dst := dense.New(x.Rows, len(h.Classes()))
	must.Do(t, h.Score(blas64.General(dst), nil, x))
	return dst.Data
}
