package holdout_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/holdout"
)

// bursts returns n bursts of k rows each: directions of their own, with little noise.
func bursts(seed uint64, n, k, d int, noise float64) [][]float32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	var rows [][]float32
	for range n {
		centre := make([]float64, d)
		for j := range centre {
			centre[j] = rng.NormFloat64()
		}
		for range k {
			row := make([]float32, d)
			for j := range row {
				row[j] = float32(centre[j] + noise*rng.NormFloat64())
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func TestGroupsAreBursts(t *testing.T) {
	for _, c := range []struct{ n, k int }{{1, 1}, {2, 1}, {5, 3}, {40, 5}, {300, 4}} {
		got := holdout.Groups(bursts(3, c.n, c.k, 200, 0.05), nil)
		whole, seen := 0, map[int]bool{}
		for i := 0; i < len(got); i += c.k {
			burst := got[i : i+c.k]
			if slices.Min(burst) == slices.Max(burst) {
				whole++
			}
			for _, g := range burst {
				if seen[g] {
					t.Fatalf("%d bursts of %d: group %d has rows of two", c.n, c.k, g)
				}
			}
			for _, g := range burst {
				seen[g] = true
			}
		}
		// A large class is clustered in parts, between which a few bursts are cut.
		if whole < c.n && (c.n*c.k <= 128 || whole < c.n*9/10) {
			t.Errorf("%d bursts of %d: %d are whole", c.n, c.k, whole)
		}
	}
}

// One occasion, however alike its photos are, is not one group: there is no other
// distance to compare with, and a class of one group could not be held out.
func TestGroupsNeverChainAClass(t *testing.T) {
	for _, n := range []int{2, 3, 10, 100, 1000} {
		rows := bursts(7, 1, n, 30, 0.1)
		groups := holdout.Groups(rows, nil)
		if most := slices.Max(sizes(groups)); 2*most > n {
			t.Errorf("%d rows: the largest group has %d", n, most)
		}
	}
	// A path on which every step is short: neighbours must not pull each other in.
	var path [][]float32
	for i := range 200 {
		a := math.Pi / 2 * float64(i) / 200
		path = append(path, []float32{float32(math.Cos(a)), float32(math.Sin(a))})
	}
	if most := slices.Max(sizes(holdout.Groups(path, nil))); most > 100 {
		t.Errorf("a path: the largest group has %d of 200", most)
	}
}

func sizes(groups []int) []int {
	out := make([]int, slices.Max(groups)+1)
	for _, g := range groups {
		out[g]++
	}
	return out
}

// Neither the order of the rows nor, in a class that is clustered at once, their scale
// makes a difference; copies are together.
func TestGroupsDependOnContent(t *testing.T) {
	for _, n := range []int{9, 150} {
		rows := bursts(11, n, 2, 20, 0.8)
		rows = append(rows, slices.Clone(rows[3]), slices.Clone(rows[3]))
		want := holdout.Groups(rows, nil)
		if last := len(rows) - 1; want[3] != want[last] || want[3] != want[last-1] {
			t.Errorf("copies are in groups %d, %d and %d", want[3], want[last-1], want[last])
		}
		perm := rand.New(rand.NewPCG(5, 5)).Perm(len(rows))
		mixed := make([][]float32, len(rows))
		for i, p := range perm {
			mixed[i] = slices.Clone(rows[p])
			for j := range mixed[i] {
				if len(rows) <= 128 {
					mixed[i][j] *= 4
				}
			}
		}
		got := holdout.Groups(mixed, nil)
		for i := range perm {
			for j := range i {
				if (got[i] == got[j]) != (want[perm[i]] == want[perm[j]]) {
					t.Fatalf("rows %d and %d: together %v, in another order %v",
						perm[i], perm[j], want[perm[i]] == want[perm[j]], got[i] == got[j])
				}
			}
		}
	}
}

// Complete linkage by the definition: join the pair of clusters whose farthest members
// are nearest, until it is farther than 0.7 medians.
func TestGroupsAreCompleteLinkage(t *testing.T) {
	for seed := range uint64(20) {
		rows := bursts(seed, 12, 3, 6, 0.6)
		n := len(rows)
		d := make([][]float64, n)
		var all []float64
		for i := range rows {
			d[i] = make([]float64, n)
			for j := range rows {
				d[i][j] = distance(rows[i], rows[j])
				if j < i {
					all = append(all, d[i][j])
				}
			}
		}
		slices.Sort(all)
		limit := 0.7 * (all[(len(all)-1)/2] + all[len(all)/2]) / 2
		clusters := make([][]int, n)
		for i := range clusters {
			clusters[i] = []int{i}
		}
		for {
			a, b, best := 0, 0, math.Inf(1)
			for i := range clusters {
				for j := range i {
					if v := farthest(d, clusters[i], clusters[j]); v < best {
						a, b, best = i, j, v
					}
				}
			}
			if best > limit {
				break
			}
			clusters[b] = append(clusters[b], clusters[a]...)
			clusters = slices.Delete(clusters, a, a+1)
		}
		got := holdout.Groups(rows, nil)
		for _, cluster := range clusters {
			for _, i := range cluster {
				if got[i] != got[cluster[0]] {
					t.Fatalf("seed %d: %d and %d are apart", seed, i, cluster[0])
				}
			}
		}
		if want := len(clusters); len(sizes(got)) != want {
			t.Fatalf("seed %d: %d groups, want %d", seed, len(sizes(got)), want)
		}
	}
}

func distance(a, b []float32) float64 {
	var aa, bb, ab float64
	for i := range a {
		aa, bb, ab = aa+float64(a[i])*float64(a[i]), bb+float64(b[i])*float64(b[i]), ab+float64(a[i])*float64(b[i])
	}
	return math.Sqrt(max(0, 2-2*ab/math.Sqrt(aa*bb)))
}

func farthest(d [][]float64, a, b []int) (out float64) {
	for _, i := range a {
		for _, j := range b {
			out = max(out, d[i][j])
		}
	}
	return out
}

func TestFoldsKeepGroups(t *testing.T) {
	groups := [][]int{{0, 1, 0, 2, 3, 3}, {0, 0}, {0, 1}, {0}}
	got := holdout.Folds(groups, 3, false)
	want := [][]int{{0, 1, 0, 2, 0, 0}, {-1, -1}, {1, 2}, {-1}}
	for c := range want {
		if !slices.Equal(got[c], want[c]) {
			t.Errorf("class %d: folds %v, want %v", c, got[c], want[c])
		}
	}
	if got := holdout.Folds(groups, 3, true); !slices.Equal(got[2], []int{0, 1}) {
		t.Errorf("together: %v", got[2])
	}
}

func BenchmarkGroups(b *testing.B) {
	for _, n := range []int{20, 1000, 10000} {
		rows := bursts(1, n, 1, 512, 1)
		b.Run("n="+strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				holdout.Groups(rows, nil)
			}
		})
	}
}
