package tokenizer

import (
	"slices"
	"sort"
)

// Prefixes are strings in order, in which those that a text begins with are found.
type prefixes []string

// newPrefixes returns the strings without the empty one.
func newPrefixes(words []string) prefixes {
	p := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	slices.Sort(p)
	return slices.Compact(p)
}

// of calls found with the length of every string that text begins with, the shortest
// first. O(m log V), m being the length of the longest common beginning.
func (p prefixes) of(text string, found func(length int)) {
	rest := p
	for depth := 0; depth < len(text) && len(rest) > 0; depth++ {
		b := text[depth]
		rest = rest[sort.Search(len(rest), func(i int) bool { return rest[i][depth] >= b }):]
		rest = rest[:sort.Search(len(rest), func(i int) bool { return rest[i][depth] > b })]
		if len(rest) > 0 && len(rest[0]) == depth+1 {
			found(depth + 1)
			rest = rest[1:] // the others are longer
		}
	}
}

// longest returns the length of the longest string that text begins with, 0 for none.
func (p prefixes) longest(text string) (length int) {
	p.of(text, func(n int) { length = n })
	return length
}
