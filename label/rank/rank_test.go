package rank

import (
	"bytes"
	"cmp"
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
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// line is a head with left at −1 and right at 1.
func line(tb testing.TB) *model.Predictor {
	head := must.Get(ncm.New(ncm.Config{Metric: ncm.Euclidean, Temperature: 1}))(tb)
	must.Do(tb, head.Learn(context.Background(), blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{-1, 1}},
		[]string{"left", "right"}))
	return &model.Predictor{Head: head}
}

func item(path, given string, x ...float32) embedding.Item {
	return embedding.Item{Sample: dataset.Sample{Path: path, Label: given}, Vector: x}
}

// ranked adds the items to a new ranking of p and finishes it.
func ranked(t *testing.T, p *model.Predictor, c Config, threshold float64, items ...embedding.Item) *Ranking {
	t.Helper()
	scorer := must.Get(c.Scorer(p, threshold))(t)
	r := must.Get(New(c, scorer.Head.Classes()))(t)
	must.Get((label.Pass{Scorer: scorer, Rows: rows(items),
		Sinks: []label.Sink{r}}).Run(context.Background()))(t)
	return r
}

// rows are embeddings without images.
type rows []embedding.Item

func (rows) Provenance() embedding.Provenance { return embedding.Provenance{} }

func (r rows) Each(_ context.Context, emit func(embedding.Item) error) (embedding.Outcome, error) {
	for _, item := range r {
		if err := emit(item); err != nil {
			return embedding.Outcome{}, err
		}
	}
	return embedding.Outcome{}, nil
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
	items := []embedding.Item{item("sure", "right", 3), item("middle", "left", 0.1), item("wrong", "left", 2),
		item("far", "right", 9), item("nowhere", "up", -0.5)}
	for by, want := range map[Criterion]string{
		Entropy: "middle nowhere wrong sure far", Margin: "middle nowhere wrong sure far",
		Novelty: "far middle nowhere wrong sure", LabelError: "wrong middle sure far",
	} {
		c := DefaultConfig()
		c.By = by
		if got := paths(ranked(t, line(t), c, math.NaN(), items...).Entries); got != want {
			t.Errorf("%s: %s, want %s", by, got, want)
		}
	}
	c := DefaultConfig()
	c.By = LabelError
	entries := ranked(t, line(t), c, math.NaN(), items...).Entries
	p, want := 1/(1+math.Exp(-4)), 4.0/5
	if e := entries[0]; math.Abs(e.Score-want) > 1e-12 || e.Given != "left" || e.Label != "right" ||
		math.Abs(e.Probability-p) > 1e-12 {
		t.Errorf("%+v", e)
	}
}

// TestTopIsTheBeginning of the full ranking, over many batches, unless it is spread.
func TestTopIsTheBeginning(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var items []embedding.Item
	for i := range 3000 {
		items = append(items, item(fmt.Sprintf("%04d", i), "", float32(math.Round(rng.NormFloat64()*20)/20)))
	}
	all := ranked(t, line(t), DefaultConfig(), math.NaN(), items...).Entries
	c := DefaultConfig()
	c.Top, c.Spread = 100, 1
	some := ranked(t, line(t), c, math.NaN(), items...).Entries
	if len(all) != 3000 || !reflect.DeepEqual(some, all[:100]) {
		t.Errorf("%d and %d entries; %s, want %s", len(all), len(some), paths(some), paths(all[:100]))
	}
}

// TestSpread: of many images that are as uncertain, the chosen ones are of every kind, whatever
// the order in which they come; where the number leaves no choice, nothing is chosen.
func TestSpread(t *testing.T) {
	const kinds = 5 // 45 images, of which none is left out
	e := drawnRows(1, 8, kinds)
	var items []embedding.Item
	for i, s := range e.Samples {
		v := append([]float32{}, dense.Row32(e.X, i)...)
		v[0] = float32(i*11%45) * 1e-4 // between the classes of the head, all kinds alike
		items = append(items, item(s.Path, "", v...))
	}
	for i := range 100 { // of which the model is sure
		v := make([]float32, 8)
		v[0] = 5 + float32(i)
		items = append(items, item(fmt.Sprint("sure/", i), "", v...))
	}
	c := DefaultConfig()
	c.Top = kinds
	kindsOf := func(entries []Entry) int {
		seen := map[string]bool{}
		for _, e := range entries {
			kind, _, _ := strings.Cut(e.Path, "/")
			seen[kind] = true
		}
		return len(seen)
	}
	some := ranked(t, corner(t), c, math.NaN(), items...).Entries
	if len(some) != kinds || kindsOf(some) != kinds {
		t.Errorf("%d images of %d kinds: %s", len(some), kindsOf(some), paths(some))
	}
	if !slices.IsSortedFunc(some, func(a, b Entry) int { return cmp.Compare(b.Score, a.Score) }) {
		t.Errorf("%+v are not in order", some)
	}
	slices.Reverse(items)
	if again := ranked(t, corner(t), c, math.NaN(), items...).Entries; !reflect.DeepEqual(some, again) {
		t.Errorf("in another order %s, not %s", paths(again), paths(some))
	}
	c.Spread = 1
	if first := ranked(t, corner(t), c, math.NaN(), items...).Entries; kindsOf(first) == kinds {
		t.Error("the most uncertain ones are of all kinds as well")
	}
	c.Spread, c.Top = 10, len(items)
	if all := ranked(t, corner(t), c, math.NaN(), items...).Entries; len(all) != len(items) || all[0].vector != nil {
		t.Errorf("%d of %d images", len(all), len(items))
	}
}

func TestRefusals(t *testing.T) {
	c := DefaultConfig()
	c.By = Variance
	if _, err := c.Scorer(line(t), math.NaN()); !errors.Is(err, ErrCannot) {
		t.Errorf("variance of ncm: %v", err)
	}
	head := must.Get(gpr.New(gpr.DefaultConfig()))(t)
	if _, err := c.Scorer(&model.Predictor{Head: head}, math.NaN()); err != nil {
		t.Errorf("variance of gpr: %v", err)
	}
	tree := must.Get(gptree.New(gptree.DefaultConfig()))(t)
	if _, err := c.Scorer(&model.Predictor{Head: tree}, math.NaN()); err != nil {
		t.Errorf("variance of gptree: %v", err)
	}
	for field, bad := range map[string]Config{
		"by": {By: "age", ClusterImages: 1, MinGroup: 1}, "top": {By: Margin, Top: -1, ClusterImages: 1, MinGroup: 1},
		"cluster_images": {By: Margin, MinGroup: 1}, "min_group": {By: Margin, ClusterImages: 1},
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
	err := Write(&out, []Entry{{Path: "=a\xe9.jpg", Label: "cat", Given: "dog", Probability: 0.5, Score: 1. / 3,
		Novel: true, Group: 2, DuplicateOf: "b.jpg"}, {Path: "b.jpg"}, {Path: "c.jpg", Label: "cat"}})
	want := "path,label,probability,given,score,novel,group,duplicate_of\n" +
		"'=a%E9.jpg,cat,,dog,0.3333333,true,2,b.jpg\nb.jpg,,,,0,false,,\nc.jpg,cat,0,,0,false,,\n"
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
