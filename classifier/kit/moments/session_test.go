package moments_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// tree merges parts pairwise in a random tree, as treeReduce does.
func tree(t *testing.T, parts []*moments.Moments, rng *rand.Rand) *moments.Moments {
	t.Helper()
	for len(parts) > 1 {
		i := rng.IntN(len(parts) - 1)
		sum := parts[i].Clone()
		must.Do(t, sum.Merge(parts[i+1]))
		parts = append(parts[:i:i], append([]*moments.Moments{sum}, parts[i+2:]...)...)
	}
	return parts[0]
}

// Any partition, in any order, merged in any tree, and with other examples
// added and removed in between, gives the statistics of the batch.
func TestAnyPartitionOrderAndTreeAgree(t *testing.T) {
	for _, n := range []int{1, 2, d - 1, d, d + 1, 3 * d, 700} {
		x, foreign := sample(n, uint64(n)), sample(7, 99)
		want := batch(t, x)
		for seed := range uint64(6) {
			rng := rand.New(rand.NewPCG(seed, uint64(n)))
			order := rng.Perm(n)
			var parts []*moments.Moments
			for first := 0; first < n; {
				last := min(n, first+1+rng.IntN(max(1, n/2)))
				parts = append(parts, batch(t, dense.Gather32(x, order[first:last])))
				first = last
			}
			rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			must.Do(t, parts[0].Add(foreign))
			sum := tree(t, parts, rng)
			must.Do(t, sum.Remove(foreign))
			equal(t, fmt.Sprintf("%d examples in %d parts", n, len(parts)), sum, want)
		}
	}
}

func TestTotalAndTrace(t *testing.T) {
	for _, n := range []int{1, d, 5 * d} {
		x := sample(n, 3)
		m := batch(t, x)
		total, cov := m.Total(), must.Get(m.Covariance())(t)
		var trace float64
		for j := range d {
			var sum float64
			for i := range n {
				sum += float64(dense.Row32(x, i)[j])
			}
			if math.Abs(total.Sum[j]-sum) > 1e-9*math.Abs(sum) || total.N != n {
				t.Errorf("n = %d: sum %d is %v, want %v", n, j, total.Sum[j], sum)
			}
			trace += cov.Data[j*cov.Stride+j] * float64(max(n-1, 1))
		}
		if math.Abs(m.Trace()-trace) > 1e-8*(1+trace) {
			t.Errorf("n = %d: trace %v, want %v", n, m.Trace(), trace)
		}
		both := total.And(moments.Total{}).And(total)
		if both.N != 2*n || math.Abs(both.Sum[0]-2*total.Sum[0]) > 1e-9 {
			t.Errorf("twice: %v", both)
		}
	}
}

func TestSelect(t *testing.T) {
	x := sample(d, 4)
	m := batch(t, x)
	got := must.Get(m.Select([]int{5, 0, 7}))(t)
	equal(t, "selected", got, batch(t, dense.Gather32(x, []int{5, 0, 7})))
	if _, err := m.Select([]int{d}); err == nil {
		t.Error("a row that is not there")
	}
	if _, err := batch(t, sample(3*d, 4)).Select([]int{0}); err == nil {
		t.Error("the full form has no rows")
	}
}

func TestStackRoundTrip(t *testing.T) {
	stats := []*moments.Moments{batch(t, sample(3, 1)), batch(t, sample(4*d, 2)), batch(t, sample(1, 3))}
	back := must.Get(moments.Unstack(d, 3, moments.Stack(stats)))(t)
	for i, m := range back {
		equal(t, "unstacked", m, stats[i])
		if m.Thin() != stats[i].Thin() {
			t.Error("the form changed")
		}
	}
}

func TestUnstackRefuses(t *testing.T) {
	good := func() map[string]classifier.Tensor {
		return moments.Stack([]*moments.Moments{batch(t, sample(3, 1)), batch(t, sample(4*d, 2))})
	}
	for name, change := range map[string]func(map[string]classifier.Tensor){
		"left over":      func(s map[string]classifier.Tensor) { s["2.rows"] = s["0.rows"] },
		"another number": func(s map[string]classifier.Tensor) { s["7.rows"] = s["0.rows"]; delete(s, "0.rows") },
		"missing":        func(s map[string]classifier.Tensor) { delete(s, "1.m2") },
		"no examples":    func(s map[string]classifier.Tensor) { s["1.n"] = classifier.CountTensor([]int{0}) },
		"no rows": func(s map[string]classifier.Tensor) {
			s["0.rows"] = classifier.Tensor{Shape: []int{0, d}, F32: []float32{}}
		},
		"negative variance": func(s map[string]classifier.Tensor) { s["1.m2"].F64[0] = -1e6 },
		"infinite":          func(s map[string]classifier.Tensor) { s["1.mean"].F64[0] = math.Inf(1) },
	} {
		s := good()
		change(s)
		if _, err := moments.Unstack(d, 2, s); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := moments.Unstack(0, 0, nil); err != nil {
		t.Errorf("no classes: %v", err)
	}
}

func TestSession(t *testing.T) {
	a, b := batch(t, sample(3, 1)), batch(t, sample(2, 2))
	s, err := moments.SessionOf([]string{"b", "a"}, []*moments.Moments{b, a}, 0)
	if err != nil || s.Classes[0].Class != "a" || s.Classes[0].Stats() != a || s.Classes[1].Stats() != b {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := moments.SessionOf([]string{"a"}, []*moments.Moments{a}, d+1); err == nil {
		t.Error("another dimension")
	}
}

// TestStackOfBothForms checks that a thin and a full form are restored
// unchanged, and that missing tensors or tensors without a class are refused.
func TestStackOfBothForms(t *testing.T) {
	var stats []*moments.Moments
	for _, n := range []int{2, 5} {
		x := dense.New32(n, 3)
		for i := range x.Data {
			x.Data[i] = float32(i * i % 7)
		}
		m := moments.New(3)
		must.Do(t, m.Add(x))
		stats = append(stats, m)
	}
	tensors := moments.Stack(stats)
	back, err := moments.Unstack(3, 2, tensors)
	if err != nil || !reflect.DeepEqual(moments.Stack(back), tensors) {
		t.Errorf("%v, %v", back, err)
	}
	if !back[0].Made(2, stats[0].Mean(), 0) || back[0].Made(3, stats[0].Mean(), 0) ||
		back[0].Made(2, stats[1].Mean(), 0) {
		t.Error("count and mean are not compared")
	}
	for name, change := range map[string]func(map[string]classifier.Tensor){
		"missing":  func(m map[string]classifier.Tensor) { delete(m, "1.mean") },
		"class 2":  func(m map[string]classifier.Tensor) { m["2.rows"] = m["0.rows"] },
		"no class": func(m map[string]classifier.Tensor) { m["rows"] = m["0.rows"] },
		"negative": func(m map[string]classifier.Tensor) { m["-1.rows"] = m["0.rows"] },
	} {
		damaged := moments.Stack(stats)
		change(damaged)
		if _, err := moments.Unstack(3, 2, damaged); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
}

func BenchmarkMergeFull640(b *testing.B) {
	x := blas32.General{Rows: 700, Cols: 640, Stride: 640, Data: make([]float32, 700*640)}
	for i := range x.Data {
		x.Data[i] = float32(i%97) / 97
	}
	m, o := moments.New(640), moments.New(640)
	must.Do(b, m.Add(x))
	must.Do(b, o.Add(x))
	b.ResetTimer()
	for range b.N {
		must.Do(b, m.Merge(o))
	}
}
