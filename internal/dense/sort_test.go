package dense

import (
	"cmp"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

func TestSortFunc(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(5))
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 4095, 4096, 4097, 10_001, 50_000} {
		s := make([]int, n)
		for i := range s {
			s[i] = rng.IntN(n)
		}
		want := slices.Sorted(slices.Values(s))
		SortFunc(s, cmp.Compare[int])
		if !slices.Equal(s, want) {
			t.Errorf("%d numbers are not in order", n)
		}
	}
}
