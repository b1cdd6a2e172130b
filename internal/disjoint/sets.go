// Package disjoint divides numbers into sets that can be joined.
package disjoint

// Sets are disjoint sets of 0 to len−1, each with a member that stands for it, its root
// (union-find, Galler and Fischer 1964). It has the parent of each number.
type Sets []int

// New returns n sets of one number each.
func New(n int) Sets {
	s := make(Sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// Add adds a set of one number, the next one.
func (s *Sets) Add() { *s = append(*s, len(*s)) }

// Root returns the root of the set of i: the same for all of its numbers.
func (s Sets) Root(i int) int {
	for s[i] != i {
		s[i] = s[s[i]] // halves the way for the next time
		i = s[i]
	}
	return i
}

// Join joins the sets of a and b. The root is that of a.
func (s Sets) Join(a, b int) { s[s.Root(b)] = s.Root(a) }
