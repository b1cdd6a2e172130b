package rank

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label/organise"
	"github.com/seed-90d10d51/pipeline/model"
)

// blobs returns n whitened points around k centres, and their space.
func blobs(tb testing.TB, seed uint64, n, d, k int, noise float64) (*gauss.Space, blas64.General) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	x, centres := dense.New(n, d), dense.New(k, d)
	for i := range centres.Data {
		centres.Data[i] = rng.NormFloat64()
	}
	for i := range n {
		for j, c := range dense.Row(centres, i%k) {
			dense.Row(x, i)[j] = c + noise*rng.NormFloat64()
		}
	}
	sp := gauss.Isotropic(x)
	white := must.Get(sp.Whitened(x))(tb)
	return sp, white
}

func TestGroupsAreFound(t *testing.T) {
	for _, k := range []int{1, 2, 5, 12, 20} {
		sp, z := blobs(t, uint64(k), 240, 32, k, 0.3)
		groups := must.Get(Groups(context.Background(), sp, z))(t)
		if k > 1 && len(groups) != k { // the variance of one class alone is taken for that of several
			t.Errorf("%d groups of %d", len(groups), k)
		}
		for _, g := range groups {
			for _, i := range g {
				if i%k != g[0]%k {
					t.Errorf("k=%d: rows %d and %d are together", k, i, g[0])
				}
			}
		}
	}
}

// slowGroups follows the definition: it computes every likelihood ratio again
// before each merge.
func slowGroups(sp *gauss.Space, z blas64.General) [][]int {
	x, _ := sp.Coordinates(z)
	evidence := func(rows ...int) float64 {
		w, c := sp.Evidence(discount * float64(len(rows)))
		total := -c
		for j := range w {
			sum := 0.0
			for _, i := range rows {
				sum += discount * dense.Row(x, i)[j]
			}
			total += w[j] * sum * sum
		}
		return total
	}
	var clusters [][]int
	for i := range z.Rows {
		clusters = append(clusters, []int{i})
	}
	for {
		best, bi, bj := 0.0, 0, 0
		for i, a := range clusters {
			for j, b := range clusters[:i] {
				if gain := evidence(slices.Concat(a, b)...) - evidence(a...) - evidence(b...); gain > best {
					best, bi, bj = gain, i, j
				}
			}
		}
		if best == 0 {
			return clusters
		}
		clusters[bj] = slices.Concat(clusters[bj], clusters[bi])
		clusters = slices.Delete(clusters, bi, bi+1)
	}
}

func TestGroupsAreTheDefinition(t *testing.T) {
	for seed := range uint64(60) {
		sp, z := blobs(t, seed, 24, 5, 6, 0.8)
		got := must.Get(Groups(context.Background(), sp, z))(t)
		want := slowGroups(sp, z)
		for _, g := range want {
			slices.Sort(g)
		}
		slices.SortFunc(want, slices.Compare)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: %v\nwant %v", seed, got, want)
		}
		if len(got) < 2 || len(got) > 20 {
			t.Errorf("seed %d: %d groups test little", seed, len(got))
		}
	}
}

// TestGroupsOfOddInput: nothing, one row, equal rows.
func TestGroupsOfOddInput(t *testing.T) {
	for _, c := range []struct{ rows, want int }{{0, 0}, {1, 1}, {5, 1}} {
		x := dense.New(c.rows, 2)
		groups, err := Groups(context.Background(), gauss.Isotropic(x), x)
		if err != nil || len(groups) != c.want {
			t.Errorf("%d equal rows: %v, %v", c.rows, groups, err)
		}
	}
}

func TestGroupsStop(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	sp, z := blobs(t, 1, 20, 4, 2, 1)
	if _, err := Groups(ctx, sp, z); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, _, err := Duplicates(ctx, dense.New32(3, 2)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestDuplicates: rows at small angles from each other; a copy of a copy is not
// a copy of the first, and zero rows are copies of nothing.
func TestDuplicates(t *testing.T) {
	angle := 0.9 * math.Acos(SameShot)
	x := dense.New32(6, 2)
	for i, a := range []float64{0, 1, 2, 0.5} {
		x.Data[2*i], x.Data[2*i+1] = float32(3*math.Cos(a*angle)), float32(3*math.Sin(a*angle))
	}
	copies, firsts, err := Duplicates(context.Background(), x)
	if want := map[int][]int{0: {1, 3}}; err != nil || !reflect.DeepEqual(copies, want) ||
		!slices.Equal(firsts, []int{0, 2, 4, 5}) {
		t.Errorf("%v, %v, %v", copies, firsts, err)
	}
}

// corner is a head of two classes along the first of eight axes.
func corner(t *testing.T) *model.Predictor {
	head, err := ncm.New(ncm.Config{Metric: ncm.Euclidean, Temperature: 1})
	if err == nil {
		x := dense.New32(2, 8)
		x.Data[0], x.Data[8] = 1, -1
		err = head.Learn(context.Background(), x, []string{"left", "right"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return &model.Predictor{Head: head}
}

// around returns an embedding near axis k.
func around(rng *rand.Rand, k int) []float32 {
	x := make([]float32, 8)
	for j := range x {
		x[j] = float32(rng.NormFloat64())
	}
	x[k] += 5
	return x
}

// TestNovelImagesAreGrouped: only those above the threshold; near-duplicates
// follow their first.
func TestNovelImagesAreGrouped(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var items []embedding.Item
	for i := range 6 {
		items = append(items, item(fmt.Sprintf("three%d", i), "", around(rng, 3)...), item(fmt.Sprintf("five%d", i), "",
			around(rng, 5)...), item(fmt.Sprintf("known%d", i), "", 1, 0, 0, 0, 0, 0, 0, 0))
	}
	items = append(items, item("three0copy", "", items[0].Vector...))
	lone := around(rng, 7)
	items = append(items, item("lone", "", lone...), item("lone2", "", lone...))
	c := DefaultConfig()
	c.Top = 20
	r := ranked(t, corner(t), c, 0.5, items...)
	groups := must.Get(r.Group(context.Background(), corner(t)))(t)
	if r.Novel != 15 || len(groups) != 2 || len(groups[0]) != 7 || len(groups[1]) != 6 {
		t.Fatalf("%d novel: %v", r.Novel, groups)
	}
	if want := (Member{Path: "three0copy", DuplicateOf: "three0"}); groups[0][1] != want {
		t.Errorf("%v", groups[0])
	}
	for _, e := range r.Entries {
		wantGroup, wantCopy := map[string]int{"t": 1, "f": 2}[e.Path[:1]],
			map[string]string{"three0copy": "three0", "lone2": "lone"}[e.Path]
		if e.Group != wantGroup || e.DuplicateOf != wantCopy {
			t.Errorf("%+v", e)
		}
	}
}

// TestManyNovelImagesAreSampled: the same ones in any order.
func TestManyNovelImagesAreSampled(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var items []embedding.Item
	for i := range 200 {
		x := item(fmt.Sprintf("%03d", i), "", around(rng, 2+i%2)...)
		x.Hash = dense.Hash32(x.Vector)
		items = append(items, x)
	}
	c := DefaultConfig()
	c.ClusterImages = 20
	grouped := func() string {
		r := ranked(t, corner(t), c, 0, items...)
		groups, err := r.Group(context.Background(), corner(t))
		if err != nil || r.Novel != 200 {
			t.Fatal(r.Novel, err)
		}
		return fmt.Sprint(groups)
	}
	first := grouped()
	rng.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	if second := grouped(); second != first || strings.Count(first, "{") != 20 {
		t.Errorf("%s\nthen %s", first, second)
	}
}

func TestLinkGroups(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "groups")
	groups := [][]Member{{{Path: "a/x.jpg"}, {Path: "b/x.jpg", DuplicateOf: "a/x.jpg"}, {Path: "c.jpg"}}}
	if how, err := LinkGroups(groups, "/photos", dir, nil); err != nil || how != organise.Links {
		t.Fatal(how, err)
	}
	for name, want := range map[string]string{"0001-x.jpg": "/photos/a/x.jpg", "0001.1-x.jpg": "/photos/b/x.jpg",
		"0002-c.jpg": "/photos/c.jpg"} {
		if got, err := os.Readlink(filepath.Join(dir, "group-001", name)); err != nil || got != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// TestLinkGroupsAmongOthers: what is in the folder stays.
func TestLinkGroupsAmongOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "groups")
	mine := filepath.Join(dir, "group-001", "mine.txt")
	must.Do(t, os.MkdirAll(filepath.Dir(mine), 0o755))
	must.Do(t, os.WriteFile(mine, nil, 0o644))
	must.Get(LinkGroups([][]Member{{{Path: "a.jpg"}}}, "/photos", dir, nil))(t)
	for _, name := range []string{mine, filepath.Join(dir, "group-001", "0001-a.jpg")} {
		if _, err := os.Lstat(name); err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkGroups(b *testing.B) {
	for _, n := range []int{500, 1000, 2000, 5000} {
		sp, z := blobs(b, 1, n, 192, 40, 1)
		b.Run(fmt.Sprintf("n=%d/d=192", n), func(b *testing.B) {
			for b.Loop() {
				must.Get(Groups(context.Background(), sp, z))(b)
			}
		})
	}
}

func BenchmarkDuplicates(b *testing.B) {
	_, z := blobs(b, 1, 5000, 192, 40, 1)
	x := blas32.General{Rows: z.Rows, Cols: z.Cols, Stride: z.Stride, Data: dense.Narrowed(z.Data)}
	for b.Loop() {
		must.Get2(Duplicates(context.Background(), x))(b)
	}
}
