package dense

import (
	"runtime"
	"slices"
)

// SortFunc sorts s by compare, which must be a total order, on all cores. It takes memory
// for one copy of s.
func SortFunc[E any](s []E, compare func(a, b E) int) {
	sortParts(s, make([]E, len(s)), compare, runtime.GOMAXPROCS(0))
}

// sortParts sorts s with up to cores goroutines; spare is as long as s.
func sortParts[E any](s, spare []E, compare func(a, b E) int, cores int) {
	const least = 4096 // below, a second goroutine costs more than it saves
	if cores < 2 || len(s) < least {
		slices.SortFunc(s, compare)
		return
	}
	mid := len(s) / 2
	Parallel(2, func(half int) {
		from, to := half*mid, mid+half*(len(s)-mid)
		sortParts(s[from:to], spare[from:to], compare, cores/2)
	})
	merge(spare, s[:mid], s[mid:], compare)
	copy(s, spare)
}

// merge writes the elements of a and b, which are sorted, into to in order.
func merge[E any](to, a, b []E, compare func(a, b E) int) {
	for at := range to {
		if len(b) == 0 || len(a) > 0 && compare(a[0], b[0]) <= 0 {
			to[at], a = a[0], a[1:]
		} else {
			to[at], b = b[0], b[1:]
		}
	}
}
