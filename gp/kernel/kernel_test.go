package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// rbf returns the kernel of GP-Tree's VI nodes.
func rbf() kernel.Kernel {
	return kernel.Kernel{Kind: kernel.RBF, Normalize: true, Lengthscale: 1, Outputscale: 4}
}

func random(n, d int, seed uint64) blas64.General {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := dense.New(n, d)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

func at(m blas64.General, i int) []float64 { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }

func points(t testing.TB, k kernel.Kernel, x blas64.General) kernel.Points {
	t.Helper()
	return must.Get(k.Points(x))(t)
}

func cross(t testing.TB, k kernel.Kernel, x, z blas64.General) blas64.General {
	t.Helper()
	out := dense.New(x.Rows, z.Rows)
	k.Cross(out, points(t, k, x), points(t, k, z))
	return out
}

func gram(t testing.TB, k kernel.Kernel, x blas64.General) blas64.General {
	t.Helper()
	return k.Gram(points(t, k, x))
}

// each runs a test for every kind, on raw inputs and on inputs of length 1.
func each(t *testing.T, test func(t *testing.T, k kernel.Kernel)) {
	for _, kind := range kernel.Kinds() {
		for _, normalize := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/normalize=%v", kind, normalize), func(t *testing.T) {
				test(t, kernel.Kernel{Kind: kind, Normalize: normalize, Lengthscale: 1.7, Outputscale: 2.3})
			})
		}
	}
}

// direct is the kernel as defined in doc.go.
func direct(k kernel.Kernel, x, z []float64) float64 {
	x, z = slices.Clone(x), slices.Clone(z)
	if k.Normalize {
		for _, v := range [][]float64{x, z} {
			length := mat.Norm(mat.NewVecDense(len(v), v), 2)
			for j := range v {
				if length > 0 {
					v[j] /= length
				}
			}
		}
	}
	var inner, sq float64
	for j := range x {
		inner += x[j] * z[j]
		sq += (x[j] - z[j]) * (x[j] - z[j])
	}
	r := math.Sqrt(sq) / k.Lengthscale
	a := math.Sqrt(5) * r
	return k.Outputscale * map[kernel.Kind]float64{
		kernel.RBF: math.Exp(-r * r / 2), kernel.Matern52: (1 + a + a*a/3) * math.Exp(-a),
		kernel.Linear: inner / k.Lengthscale / k.Lengthscale,
	}[k.Kind]
}

func TestValuesAreTheFormulas(t *testing.T) {
	x, z := random(70, 5, 1), random(9, 5, 2)
	clear(at(x, 3))
	each(t, func(t *testing.T, k kernel.Kernel) {
		K, G := cross(t, k, x, z), gram(t, k, x)
		diagonal := make([]float64, x.Rows)
		k.Diagonal(diagonal, points(t, k, x))
		for i := range x.Rows {
			for j := range z.Rows {
				if want := direct(k, at(x, i), at(z, j)); math.Abs(at(K, i)[j]-want) > 1e-13*k.Outputscale {
					t.Fatalf("K(%d,%d) = %.17g, want %.17g", i, j, at(K, i)[j], want)
				}
			}
			for j := range x.Rows {
				if want := direct(k, at(x, i), at(x, j)); math.Abs(at(G, i)[j]-want) > 1e-13*k.Outputscale ||
					at(G, i)[j] != at(G, j)[i] {
					t.Fatalf("G(%d,%d) = %.17g, want %.17g", i, j, at(G, i)[j], want)
				}
			}
			if at(G, i)[i] != diagonal[i] {
				t.Errorf("diagonal %d: %g and %g", i, at(G, i)[i], diagonal[i])
			}
		}
		if k.Kind != kernel.Linear && slices.Max(diagonal) != k.Outputscale || slices.Min(diagonal) < 0 {
			t.Errorf("diagonal %v", diagonal)
		}
	})
}

// TestRowsStandAlone: an element does not depend on the other rows, nor on the
// number of threads.
func TestRowsStandAlone(t *testing.T) {
	x, z := random(300, 7, 1), random(200, 7, 2)
	each(t, func(t *testing.T, k kernel.Kernel) {
		whole := cross(t, k, x, z)
		p := points(t, k, x).Pick([]int{299, 7})
		some := dense.New(2, z.Rows)
		k.Cross(some, p, points(t, k, z))
		if !slices.Equal(at(some, 0), at(whole, 299)) || !slices.Equal(at(some, 1), at(whole, 7)) {
			t.Error("picked rows differ")
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		if !slices.Equal(cross(t, k, x, z).Data, whole.Data) {
			t.Error("one thread gives other bits")
		}
	})
}

// TestGradients: central differences of Σ G∘K and Σ g∘diag, every entry of
// every argument, relative error at most 1e-5.
func TestGradients(t *testing.T) {
	x, z := random(4, 3, 1), random(5, 3, 2)
	copy(at(z, 0), at(x, 0)) // distance 0
	G, g := random(4, 5, 3), at(random(1, 4, 4), 0)
	each(t, func(t *testing.T, k kernel.Kernel) {
		loss := func(k kernel.Kernel) float64 {
			var sum float64
			for i, v := range cross(t, k, x, z).Data {
				sum += v * G.Data[i]
			}
			diagonal := make([]float64, 4)
			k.Diagonal(diagonal, points(t, k, x))
			for i, v := range diagonal {
				sum += v * g[i]
			}
			return sum
		}
		a := must.Get(gradient(t, k, G, points(t, k, x), points(t, k, z)))(t)
		b := must.Get(k.DiagonalGradient(g, points(t, k, x)))(t)
		check := func(what string, got float64, v *float64) {
			t.Helper()
			const h = 1e-5
			old := *v
			*v = old + h
			up := loss(k)
			*v = old - h
			down := loss(k)
			*v = old
			want := (up - down) / (2 * h)
			if math.Abs(got-want) > 1e-5*math.Max(math.Abs(want), 1e-3) {
				t.Errorf("%s: %.10g, central difference %.10g", what, got, want)
			}
		}
		for i := range x.Data {
			check(fmt.Sprintf("x[%d]", i), a.X.Data[i]+b.X.Data[i], &x.Data[i])
		}
		for i := range z.Data {
			check(fmt.Sprintf("z[%d]", i), a.Z.Data[i], &z.Data[i])
		}
		check("lengthscale", a.Lengthscale+b.Lengthscale, &k.Lengthscale)
		check("outputscale", a.Outputscale+b.Outputscale, &k.Outputscale)
	})
}

// TestGramGradient: the gradients from both arguments add up.
func TestGramGradient(t *testing.T) {
	x, G := random(5, 3, 1), random(5, 5, 3)
	each(t, func(t *testing.T, k kernel.Kernel) {
		p := points(t, k, x)
		g := must.Get(gradient(t, k, G, p, p))(t)
		loss := func() (sum float64) {
			for i, v := range gram(t, k, x).Data {
				sum += v * G.Data[i]
			}
			return sum
		}
		for i := range x.Data {
			const h = 1e-5
			old := x.Data[i]
			x.Data[i] = old + h
			up := loss()
			x.Data[i] = old - h
			want := (up - loss()) / (2 * h)
			x.Data[i] = old
			if got := g.X.Data[i] + g.Z.Data[i]; math.Abs(got-want) > 1e-5*math.Max(math.Abs(want), 1e-3) {
				t.Errorf("x[%d]: %.10g, central difference %.10g", i, got, want)
			}
		}
	})
}

func TestExtremeInputsStayFinite(t *testing.T) {
	x := random(6, 4, 1)
	for j := range 4 {
		x.Data[j], x.Data[4+j], x.Data[8+j], x.Data[12+j] = math.MaxFloat32, -math.MaxFloat32, 0, 1e-300
	}
	each(t, func(t *testing.T, k kernel.Kernel) {
		p, G := points(t, k, x), gram(t, k, x)
		g := must.Get(gradient(t, k, random(6, 6, 2), p, p))(t)
		for _, v := range slices.Concat(G.Data, g.X.Data) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%g", v)
			}
		}
	})
}

func TestRefuses(t *testing.T) {
	for name, change := range map[string]func(*kernel.Kernel){
		"kind":        func(k *kernel.Kernel) { k.Kind = "cosine" },
		"lengthscale": func(k *kernel.Kernel) { k.Lengthscale = 0 },
		"outputscale": func(k *kernel.Kernel) { k.Outputscale = math.NaN() },
	} {
		k := rbf()
		if change(&k); k.Validate() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	k := rbf()
	if err := k.Validate(); err != nil {
		t.Error(err)
	}
	if _, err := k.Points(blas64.General{Rows: 2}); err == nil {
		t.Error("inputs without columns were accepted")
	}
	if _, err := k.Points(blas64.General{Rows: 2, Cols: 3, Stride: 1}); err == nil {
		t.Error("a bad stride was accepted")
	}
	p := points(t, k, random(3, 2, 1))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a small result was accepted")
			}
		}()
		k.Cross(dense.New(2, 3), p, p)
	}()
	if _, err := gradient(t, k, dense.New(2, 3), p, p); err == nil {
		t.Error("a small gradient was accepted")
	}
	if _, err := k.DiagonalGradient(nil, p); err == nil {
		t.Error("a short gradient was accepted")
	}
}

func BenchmarkGram(b *testing.B) {
	for _, kind := range kernel.Kinds() {
		b.Run(fmt.Sprintf("%s/n=600/d=512", kind), func(b *testing.B) {
			k := rbf()
			k.Kind = kind
			p := points(b, k, random(600, 512, 1))
			for b.Loop() {
				k.Gram(p)
			}
		})
	}
}

// gradient is that of g where K = Cross(x, z).
func gradient(t *testing.T, k kernel.Kernel, g blas64.General, x, z kernel.Points) (kernel.Gradient, error) {
	t.Helper()
	p := must.Get(kernel.NewPair(linalg.Backend{}, x, z))(t)
	return k.Gradient(p, k.Values(p), g)
}
