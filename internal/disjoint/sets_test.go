package disjoint

import (
	"math/rand/v2"
	"testing"
)

// Numbers are in one set if joins connect them, as a table of all pairs says.
func TestSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 40
	s, in := New(n-1), make([]int, n)
	s.Add()
	for i := range in {
		in[i] = i
	}
	for range 30 {
		a, b := rng.IntN(n), rng.IntN(n)
		root := s.Root(a)
		s.Join(a, b)
		for i, old := 0, in[b]; i < n; i++ {
			if in[i] == old {
				in[i] = in[a]
			}
		}
		if s.Root(b) != root {
			t.Fatalf("joined with %d, the root of %d is %d, want %d", a, b, s.Root(b), root)
		}
		for i := range n {
			for j := range n {
				if (s.Root(i) == s.Root(j)) != (in[i] == in[j]) {
					t.Fatalf("%d and %d", i, j)
				}
			}
		}
	}
}
