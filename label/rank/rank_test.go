package rank

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/gpr"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// line is a head with left at −1 and right at 1.
func line(tb testing.TB) *model.Predictor {
	head, err := ncm.New(ncm.Config{Metric: ncm.Euclidean, Temperature: 1})
	if err == nil {
		err = head.Learn(context.Background(), blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{-1, 1}}, []string{"left", "right"})
	}
	if err != nil {
		tb.Fatal(err)
	}
	return &model.Predictor{Head: head}
}

func item(path, given string, x ...float32) embed.Item {
	return embed.Item{Sample: dataset.Sample{Path: path, Label: given}, Vector: x}
}

// ranked adds the items to a new ranking and finishes it.
func ranked(t *testing.T, c Config, threshold float64, items ...embed.Item) ([]Entry, [][]string) {
	t.Helper()
	scorer, err := c.Scorer(line(t), threshold)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(c, scorer.Head.Classes())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (label.Pass{Scorer: scorer, Rows: rows(items), Sinks: []label.Sink{r}}).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return r.Entries, r.Groups
}

// rows are embeddings without images.
type rows []embed.Item

func (rows) Provenance() embed.Provenance { return embed.Provenance{} }

func (r rows) Each(_ context.Context, emit func(embed.Item) error) (embed.Outcome, error) {
	for _, item := range r {
		if err := emit(item); err != nil {
			return embed.Outcome{}, err
		}
	}
	return embed.Outcome{}, nil
}

func paths(entries []Entry) string {
	var out []string
	for _, e := range entries {
		out = append(out, e.Path)
	}
	return strings.Join(out, " ")
}

// TestOrder: each criterion, by hand. At x the probability of right is
// 1/(1+exp(−2x)).
func TestOrder(t *testing.T) {
	items := []embed.Item{item("sure", "right", 3), item("middle", "left", 0.1), item("wrong", "left", 2), item("far", "right", 9), item("nowhere", "up", -0.5)}
	for by, want := range map[By]string{
		Entropy: "middle nowhere wrong sure far", Margin: "middle nowhere wrong sure far", Novelty: "far sure wrong middle nowhere", LabelError: "wrong middle sure far",
	} {
		c := DefaultConfig()
		c.By = by
		entries, _ := ranked(t, c, math.NaN(), items...)
		if got := paths(entries); got != want {
			t.Errorf("%s: %s, want %s", by, got, want)
		}
	}
	c := DefaultConfig()
	c.By = LabelError
	entries, _ := ranked(t, c, math.NaN(), items...)
	p := 1 / (1 + math.Exp(-4))
	if e := entries[0]; math.Abs(e.Score-(2*p-1)) > 1e-12 || e.Given != "left" || e.Label != "right" || math.Abs(e.Probability-p) > 1e-12 {
		t.Errorf("%+v", e)
	}
}

// TestTopIsTheBeginning of the full ranking, over many batches.
func TestTopIsTheBeginning(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var items []embed.Item
	for i := range 3000 {
		items = append(items, item(fmt.Sprintf("%04d", i), "", float32(math.Round(rng.NormFloat64()*20)/20)))
	}
	all, _ := ranked(t, DefaultConfig(), math.NaN(), items...)
	c := DefaultConfig()
	c.Top = 100
	some, _ := ranked(t, c, math.NaN(), items...)
	if len(all) != 3000 || !reflect.DeepEqual(some, all[:100]) {
		t.Errorf("%d and %d entries; %s, want %s", len(all), len(some), paths(some), paths(all[:100]))
	}
}

// blobs are points around a few directions.
func blobs(seed uint64, n, d, k int, noise float64) (x blas32.General, truth []int) {
	rng := rand.New(rand.NewPCG(seed, 0))
	centres := make([][]float64, k)
	for c := range centres {
		for range d {
			centres[c] = append(centres[c], rng.NormFloat64())
		}
	}
	x = blas32.General{Rows: n, Cols: d, Stride: d}
	for i := range n {
		c := i % k
		truth = append(truth, c)
		for j := range d {
			x.Data = append(x.Data, float32(centres[c][j]+noise*rng.NormFloat64()))
		}
	}
	return x, truth
}

func TestGroupsAreFound(t *testing.T) {
	for _, k := range []int{2, 5, 12} {
		x, truth := blobs(uint64(k), 240, 32, k, 0.3)
		groups, err := Groups(x, 30, 3)
		if err != nil || len(groups) != k {
			t.Fatalf("%d groups of %d (%v)", len(groups), k, err)
		}
		for _, g := range groups {
			for _, i := range g {
				if truth[i] != truth[g[0]] {
					t.Errorf("k=%d: rows %d and %d are together", k, i, g[0])
				}
			}
		}
	}
}

// TestGroupsOfOddInput: nothing, one row, equal rows, zeros, no structure.
func TestGroupsOfOddInput(t *testing.T) {
	equal := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{2, 2, 2, 2}}
	zeros := blas32.General{Rows: 5, Cols: 2, Stride: 2, Data: make([]float32, 10)}
	for name, c := range map[string]struct {
		x    blas32.General
		want int
	}{
		"none": {blas32.General{Cols: 2, Stride: 2}, 0}, "one row": {blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{1}}, 0},
		"zeros": {zeros, 1}, "equal rows": {equal, 1},
	} {
		groups, err := Groups(c.x, 30, 3)
		if err != nil || len(groups) != c.want {
			t.Errorf("%s: %v, %v", name, groups, err)
		}
	}
	bad := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{float32(math.Inf(1))}}
	if _, err := Groups(bad, 30, 3); err == nil {
		t.Error("infinity is taken")
	}
}

// bruteLinkage is average linkage by definition.
func bruteLinkage(s square) []float64 {
	clusters := [][]int{}
	for i := range s.n {
		clusters = append(clusters, []int{i})
	}
	var heights []float64
	for len(clusters) > 1 {
		best, bi, bj := math.Inf(1), 0, 0
		for i := range clusters {
			for j := range i {
				sum := 0.0
				for _, p := range clusters[i] {
					for _, q := range clusters[j] {
						sum += s.at(p, q)
					}
				}
				if mean := sum / float64(len(clusters[i])*len(clusters[j])); mean < best {
					best, bi, bj = mean, i, j
				}
			}
		}
		heights = append(heights, best)
		clusters[bj] = append(clusters[bj], clusters[bi]...)
		clusters = slices.Delete(clusters, bi, bi+1)
	}
	return heights
}

func TestLinkageIsTheDefinition(t *testing.T) {
	x, _ := blobs(4, 40, 8, 4, 1)
	s := cosineDistances(x)
	merges, want := averageLinkage(s), bruteLinkage(s)
	for i, m := range merges {
		if math.Abs(m.distance-want[i]) > 1e-5 {
			t.Errorf("merge %d at %v, want %v", i, m.distance, want[i])
		}
	}
}

func TestSilhouetteByHand(t *testing.T) {
	// Three points: 0 and 1 are 0.2 apart, both 0.8 from 2.
	s := square{3, []float32{0, .2, .8, .2, 0, .8, .8, .8, 0}}
	if got, want := silhouette(s, []int{0, 0, 2}), (0.75+0.75+0)/3; math.Abs(got-want) > 1e-6 {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestNovelImagesAreGrouped: only those above the threshold, the most novel if
// there are too many.
func TestNovelImagesAreGrouped(t *testing.T) {
	c := DefaultConfig()
	c.By, c.ClusterImages, c.Top = Novelty, 8, 3
	var items []embed.Item
	for i := range 6 {
		items = append(items, item(fmt.Sprintf("up%d", i), "", float32(5+i)), item(fmt.Sprintf("down%d", i), "", float32(-5-i)), item(fmt.Sprintf("known%d", i), "", 1))
	}
	entries, groups := ranked(t, c, 3, items...)
	if len(entries) != 3 || !entries[0].Novel || entries[0].Group == 0 {
		t.Errorf("%+v", entries)
	}
	if len(groups) != 2 || len(groups[0])+len(groups[1]) != 8 || strings.Contains(fmt.Sprint(groups), "known") || strings.Contains(fmt.Sprint(groups), "up0") {
		t.Errorf("%v", groups)
	}
}

func TestRefusals(t *testing.T) {
	c := DefaultConfig()
	c.By = Variance
	if _, err := c.Scorer(line(t), math.NaN()); !errors.Is(err, ErrCannot) {
		t.Errorf("variance of ncm: %v", err)
	}
	head, err := gpr.New(gpr.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Scorer(&model.Predictor{Head: head}, math.NaN()); err != nil {
		t.Errorf("variance of gpr: %v", err)
	}
	tree, err := gptree.New(gptree.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Scorer(&model.Predictor{Head: tree}, math.NaN()); err != nil {
		t.Errorf("variance of gptree: %v", err)
	}
	for field, bad := range map[string]Config{
		"by": {By: "age", ClusterImages: 1, MaxGroups: 1, MinGroup: 1}, "top": {By: Margin, Top: -1, ClusterImages: 1, MaxGroups: 1, MinGroup: 1},
		"cluster_images": {By: Margin, MaxGroups: 1, MinGroup: 1}, "max_groups": {By: Margin, ClusterImages: 1, MinGroup: 1}, "min_group": {By: Margin, ClusterImages: 1, MaxGroups: 1},
	} {
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	odd := label.Pass{Scorer: label.Scorer{Head: line(t)}, Rows: rows{item("odd.jpg", "", 1, 2)}}
	if _, err := odd.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "odd.jpg") {
		t.Errorf("%v", err)
	}
}

func TestWrite(t *testing.T) {
	var out bytes.Buffer
	err := Write(&out, []Entry{{Path: "=a\xe9.jpg", Label: "cat", Given: "dog", Probability: 0.5, Score: 1. / 3, Novel: true, Group: 2}, {Path: "b.jpg"}})
	want := "path,label,probability,given,score,novel,group\n'=a%E9.jpg,cat,,dog,0.3333333,true,2\nb.jpg,,0,,0,false,\n"
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, &out, want)
	}
}

// TestWriteFails says so once, whatever the number of entries.
func TestWriteFails(t *testing.T) {
	torn := errors.New("torn")
	err := Write(brokenWriter{torn}, make([]Entry, 100_000))
	if !errors.Is(err, torn) || strings.Count(err.Error(), "torn") != 1 {
		t.Errorf("%.200v", err)
	}
}

// A brokenWriter fails.
type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func BenchmarkGroups(b *testing.B) {
	for _, n := range []int{500, 1000, 2000} {
		x, _ := blobs(1, n, 192, 10, 1)
		b.Run(fmt.Sprintf("n=%d/d=192", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := Groups(x, 30, 3); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
