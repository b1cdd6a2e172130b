package holdout_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/holdout"
)

func TestOccasions(t *testing.T) {
	const half = 1800
	at := func(camera, unix int64) holdout.Taken { return holdout.Taken{Camera: camera, Unix: unix} }
	for name, c := range map[string]struct {
		taken []holdout.Taken
		want  []int
		once  bool
	}{
		"none":         {nil, []int{}, false},
		"one":          {[]holdout.Taken{at(1, 5)}, []int{0}, false},
		"half an hour": {[]holdout.Taken{at(1, 5), at(1, 5+half), at(1, 6+2*half)}, []int{0, 0, 1}, false},
		"in any order": {[]holdout.Taken{at(1, 9*half), at(1, 5), at(1, 9*half-1), at(1, 4)}, []int{0, 1, 0, 1}, false},
		"a long walk":  {[]holdout.Taken{at(1, 5), at(1, 5+2*half), at(1, 5+half)}, []int{0, 0, 0}, true},
		"cameras":      {[]holdout.Taken{at(1, 5), at(2, 5), at(1, 6)}, []int{0, 1, 0}, false},
		"untold":       {[]holdout.Taken{{}, at(1, 5), {}, at(1, 5)}, []int{0, 1, 2, 1}, false},
		"before 1970":  {[]holdout.Taken{at(1, -5), at(1, -5-half)}, []int{0, 0}, true},
		"overflow":     {[]holdout.Taken{at(1, math.MaxInt64), at(1, math.MinInt64)}, []int{0, 1}, false},
	} {
		if got := holdout.Occasions(c.taken); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if got := holdout.Once(c.taken); got != c.once {
			t.Errorf("%s: of one occasion: %v", name, got)
		}
	}
}

// Photos of one occasion are together however they differ, and like photos of several may be.
func TestGroupsBeginWithOccasions(t *testing.T) {
	rows := bursts(5, 60, 1, 50, 0) // nothing is alike
	taken := make([]holdout.Taken, len(rows))
	for i := range taken {
		taken[i] = holdout.Taken{Camera: 1, Unix: int64(1e9 + 1e6*(i/3))}
	}
	groups := holdout.Groups(rows, taken)
	if !reflect.DeepEqual(groups, holdout.Occasions(taken)) {
		t.Errorf("%v", groups)
	}
	alike := bursts(5, 6, 10, 50, 0.05)
	for i := range alike {
		taken[i].Unix = int64(1e9 + 1e6*(i/5)) // two days each
	}
	groups = holdout.Groups(alike, taken)
	if !reflect.DeepEqual(groups, holdout.Groups(alike, nil)) {
		t.Errorf("%v", groups)
	}
	for _, n := range []int{2000, 128, 129} { // in parts, too
		rows := bursts(7, n/4, 4, 30, 1)
		taken := make([]holdout.Taken, len(rows))
		for i := range taken {
			taken[i] = holdout.Taken{Camera: 1, Unix: int64(1e9 + 1e6*(i%(len(rows)/5)))}
		}
		groups := holdout.Groups(rows, taken)
		first := map[int]int{}
		for i, o := range holdout.Occasions(taken) {
			if _, ok := first[o]; !ok {
				first[o] = groups[i]
			}
			if groups[i] != first[o] {
				t.Fatalf("%d rows: occasion %d is in two groups", n, o)
			}
		}
	}
}
