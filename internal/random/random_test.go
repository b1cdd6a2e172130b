package random

import (
	"fmt"
	"math"
	"testing"
)

// TestStreamIsFixed: other values would change results.
func TestStreamIsFixed(t *testing.T) {
	for _, c := range []struct {
		got, want uint64
	}{
		{Stream(0, "").Uint64(), 0xb27df656dc6f6b4e},
		{Stream(7, "package/purpose", 3, -1).Uint64(), 0xdca36b5b8316c3e8},
		{StreamOf(7, "package/purpose", []string{"cat", "dog"}, 3).Uint64(), 0xa08203cfe59bc26a},
	} {
		if c.got != c.want {
			t.Errorf("%#x, want %#x", c.got, c.want)
		}
	}
}

// TestStreamsDiffer: what reads the same when written one after the other is
// still told apart.
func TestStreamsDiffer(t *testing.T) {
	seen := map[[2]uint64]string{}
	add := func(seed uint64, purpose string, names []string, index ...int) {
		t.Helper()
		name := fmt.Sprintf("%d %q %q %d", seed, purpose, names, index)
		rng := StreamOf(seed, purpose, names, index...)
		first := [2]uint64{rng.Uint64(), rng.Uint64()}
		if other, ok := seen[first]; ok {
			t.Errorf("%s and %s have the same stream", name, other)
		}
		seen[first] = name
	}
	for seed := range uint64(20) {
		for _, purpose := range []string{"", "a", "ab", "a\x00b"} {
			add(seed, purpose, nil)
			for i := range 50 {
				add(seed, purpose, nil, i)
				add(seed, purpose, nil, i, 0)
				add(seed, purpose, nil, 0, i+1)
				add(seed, purpose, []string{fmt.Sprint(i)})
			}
		}
	}
	for _, names := range [][]string{{""}, {"", ""}, {"b"}, {"ab", "c"}, {"a", "bc"}, {"abc"}, {"c", "ab"},
		{"\x01\x00\x00\x00\x00\x00\x00\x00"}} {
		add(0, "a", names)
		add(0, "a", names, 0)
		add(0, "a", names, 1)
	}
}

// TestStreamsAreIndependent: neighbouring streams are uncorrelated, and their
// first numbers uniform.
func TestStreamsAreIndependent(t *testing.T) {
	const n = 20000
	neighbours := map[string]func(i int) float64{
		"seeds":    func(i int) float64 { return Stream(uint64(i), "p").Float64() },
		"indices":  func(i int) float64 { return Stream(1, "p", i).Float64() },
		"purposes": func(i int) float64 { return Stream(1, fmt.Sprint(i)).Float64() },
		"names":    func(i int) float64 { return StreamOf(1, "p", []string{fmt.Sprint(i)}).Float64() },
	}
	for name, at := range neighbours {
		var mean, square, product float64
		last := at(n) - 0.5
		for i := range n {
			v := at(i) - 0.5
			mean, square, product = mean+v/n, square+v*v/n, product+v*last/n
			last = v
		}
		// Standard deviations of these means of n uniform numbers, and five of
		// them as the bound.
		for what, off := range map[string][2]float64{
			"mean": {mean, math.Sqrt(1. / 12)}, "variance": {square - 1./12, math.Sqrt(1. / 180)},
			"correlation": {product, 1. / 12},
		} {
			if math.Abs(off[0]) > 5*off[1]/math.Sqrt(n) {
				t.Errorf("%s: %s is off by %g", name, what, off[0])
			}
		}
	}
}

func TestAnotherFollowsTheWeights(t *testing.T) {
	rng := Stream(1, "random/another")
	count := make([]int, 4)
	for range 4000 {
		count[Another(rng, []float64{1, 0, 3, 0}, nil)]++
	}
	if count[1]+count[3] > 0 || count[0] < 900 || count[0] > 1100 {
		t.Errorf("%v", count)
	}
	if at := Another(rng, []float64{0, 0, 0}, []int{0, 2}); at != 1 {
		t.Errorf("without weights: %d", at)
	}
}
