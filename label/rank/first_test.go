package rank

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// stored are embeddings in memory as embedding.Rows.
type stored struct{ embedding.Embeddings }

func (s *stored) Provenance() embedding.Provenance { return s.Embeddings.Provenance }

func (s *stored) Each(ctx context.Context, emit func(embedding.Item) error) (embedding.Outcome, error) {
	for i, sample := range s.Samples {
		if err := emit(embedding.Item{Sample: sample, Hash: s.Content[i], Vector: dense.Row32(s.X, i)}); err != nil {
			return embedding.Outcome{}, err
		}
	}
	return embedding.Outcome{}, ctx.Err()
}

// drawnRows are embeddings around k centres, 3 to 3k of each: blob g has 3(g+1).
// Their paths begin with the number of the blob.
func drawnRows(seed uint64, d, k int) *stored {
	rng := rand.New(rand.NewPCG(seed, 0))
	var data []float32
	e := &stored{}
	for g := range k {
		centre := make([]float64, d)
		for j := range centre {
			centre[j] = rng.NormFloat64()
		}
		for i := range 3 * (g + 1) {
			for _, c := range centre {
				data = append(data, float32(c+0.3*rng.NormFloat64()))
			}
			e.Samples = append(e.Samples, dataset.Sample{Path: fmt.Sprintf("%d/%d.jpg", g, i)})
		}
	}
	e.X = dense.New32(len(e.Samples), d)
	copy(e.X.Data, data)
	e.Content = embedding.HashRows(e.X)
	return e
}

func first(t *testing.T, rows embedding.Rows, n int, seed uint64) Selection {
	t.Helper()
	return must.Get(DefaultConfig().First(context.Background(), rows, n, seed))(t)
}

// TestFirstFindsEveryGroup, however small, the largest first.
func TestFirstFindsEveryGroup(t *testing.T) {
	for _, k := range []int{1, 2, 7, 15} {
		for seed := range uint64(5) {
			s := first(t, drawnRows(seed, 64, k), k, seed)
			if len(s.Entries) != k {
				t.Fatalf("%d entries for %d groups", len(s.Entries), k)
			}
			for i, e := range s.Entries {
				g := k - 1 - i
				if !strings.HasPrefix(e.Path, fmt.Sprint(g, "/")) || e.Score != float64(3*(g+1)) {
					t.Errorf("seed %d: entry %d is %s of %g images, not of group %d", seed, i, e.Path, e.Score, g)
				}
			}
		}
	}
}

// TestFirstIsTypical: few images lie nearer to the centre of their group than the
// one chosen.
func TestFirstIsTypical(t *testing.T) {
	e := drawnRows(3, 64, 12)
	for _, chosen := range first(t, e, 12, 1).Entries {
		group, _, _ := strings.Cut(chosen.Path, "/")
		centre, n := make([]float64, e.X.Cols), 0
		distance := map[string]float64{}
		each := func(do func(path string, row []float64)) {
			for i, s := range e.Samples {
				if strings.HasPrefix(s.Path, group+"/") {
					row := make([]float64, e.X.Cols)
					dense.Widen(row, dense.Row32(e.X, i))
					floats.Scale(1/floats.Norm(row, 2), row)
					do(s.Path, row)
				}
			}
		}
		each(func(_ string, row []float64) {
			n++
			floats.Add(centre, row)
		})
		floats.Scale(1/float64(n), centre)
		each(func(path string, row []float64) { distance[path] = dense.SquaredDistance(row, centre) })
		nearer := 0
		for _, d := range distance {
			if d < distance[chosen.Path] {
				nearer++
			}
		}
		if 4*nearer > n {
			t.Errorf("%s: %d of %d images are nearer to the centre", chosen.Path, nearer, n)
		}
	}
}

// TestFirstDoesNotDependOnOrder, and is the same in every run.
func TestFirstDoesNotDependOnOrder(t *testing.T) {
	e := drawnRows(1, 64, 10)
	want := first(t, e, 20, 4)
	if again := first(t, e, 20, 4); !reflect.DeepEqual(again, want) {
		t.Error("two runs differ")
	}
	if !reflect.DeepEqual(first(t, shuffled(e, 5), 20, 4), want) {
		t.Error("the order of images changes the choice")
	}
	if reflect.DeepEqual(first(t, e, 20, 5).Entries, want.Entries) {
		t.Error("the seed changes nothing")
	}
	c := DefaultConfig()
	c.ClusterImages = 40
	sample := must.Get(c.First(context.Background(), e, 10, 1))(t)
	other, err := c.First(context.Background(), shuffled(e, 6), 10, 1)
	if err != nil || !reflect.DeepEqual(other, sample) || sample.Images != 165 || sample.Compared != 40 {
		t.Errorf("of a sample: %v, %d of %d images, %d entries", err, sample.Compared, sample.Images,
			len(sample.Entries))
	}
}

func shuffled(e *stored, seed uint64) *stored {
	order := rand.New(rand.NewPCG(seed, 0)).Perm(e.X.Rows)
	out := &stored{embedding.Embeddings{X: dense.Gather32(e.X, order)}}
	for _, i := range order {
		out.Samples, out.Content = append(out.Samples, e.Samples[i]), append(out.Content, e.Content[i])
	}
	return out
}

// TestFirstFoldsDuplicates: twenty pictures of one thing, taken in a row, are one.
func TestFirstFoldsDuplicates(t *testing.T) {
	e := drawnRows(2, 32, 3)
	for i := range e.X.Rows - 1 { // all of groups 1 and 2 but one are the same
		if i > 3 {
			copy(dense.Row32(e.X, i), dense.Row32(e.X, 3))
			e.X.Data[i*e.X.Stride] += 0.001 * float32(i)
		}
	}
	e.Content = embedding.HashRows(e.X)
	s := first(t, e, 10, 1)
	if s.Images != 18 || s.Different != 5 || len(s.Entries) != 5 {
		t.Errorf("%d of %d images differ, %d are chosen", s.Different, s.Images, len(s.Entries))
	}
}

func TestFirstOfFewImages(t *testing.T) {
	one := drawnRows(1, 4, 1)
	one.X.Rows, one.Samples = 1, one.Samples[:1]
	if s := first(t, one, 5, 1); len(s.Entries) != 1 || s.Entries[0].Path != "0/0.jpg" || s.Entries[0].Score != 1 {
		t.Errorf("of one image: %+v", s.Entries)
	}
	one.X.Rows, one.Samples = 0, nil
	if s := first(t, one, 5, 1); len(s.Entries) != 0 {
		t.Errorf("of no image: %+v", s.Entries)
	}
	for _, n := range []int{-1, 0, 5001} {
		if _, err := DefaultConfig().First(context.Background(), one, n, 1); err == nil ||
			!strings.Contains(err.Error(), "cluster_images") {
			t.Errorf("%d images: %v", n, err)
		}
	}
}

func TestFirstStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := typical(ctx, drawnRows(1, 8, 5).X, 5, firstRuns, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancelling: %v", err)
	}
}

// TestFarthest: the row that replaces an empty cluster is unlike the chosen ones.
func TestFarthest(t *testing.T) {
	x := dense.New32(4, 2)
	x.Data = []float32{1, 0, 0.6, 0.8, -1, 0, 1, 0}
	if got := []int{farthest(x, []representative{{row: 0}}),
		farthest(x, []representative{{row: 0}, {row: 2}})}; !slices.Equal(got, []int{2, 1}) {
		t.Errorf("farthest rows %v", got)
	}
}
