package prior

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/model/classstats"
)

// sample is an embedding of a set.
type sample struct {
	id  classstats.SampleID
	row []float32
}

// spread returns n embeddings of each of C classes, of values of falling variance within
// classes. Classes differ in the values of the smallest variance, which whitening makes
// as important as the others, or in those of the largest.
func spread(C, n int, smallest bool) (out []sample) {
	const d = 16
	rng := random.Stream(3, "model/prior/spread", C, n)
	for c := range C {
		centre := make([]float64, d)
		for j := range centre {
			if smallest && j >= d/2 || !smallest && j < 2 {
				centre[j] = 2 * rng.NormFloat64() / float64(1+j)
			}
		}
		for i := range n {
			row := make([]float32, d)
			for j := range row {
				row[j] = float32(centre[j] + rng.NormFloat64()/float64(1+j))
			}
			id := classstats.SampleID{Class: fmt.Sprint("c", 100+c)}
			copy(id.Content[:], fmt.Sprint(rng.Uint64(), i, c))
			out = append(out, sample{id, row})
		}
	}
	return out
}

func chosen(t *testing.T, samples []sample) *Prior {
	t.Helper()
	s, examples := classstats.New(len(samples[0].row), true), &Examples{}
	for _, x := range samples {
		examples.See(x.id.Class, x.id.Content, x.row)
		must.Get(s.Add(x.id, x.row))(t)
	}
	p := &Prior{}
	must.Do(t, p.Add(t.Context(), linalg.Backend{}, s, examples))
	must.Do(t, p.ChooseEpsilon(t.Context(), linalg.Backend{}))
	return p
}

func TestEpsilonIsSmallWhereWhiteningHelps(t *testing.T) {
	helps, hurts := chosen(t, spread(60, 10, true)), chosen(t, spread(60, 10, false))
	if helps.Epsilon != 0.3 || hurts.Epsilon < 0.5 {
		t.Errorf("ε = %g where whitening helps, %g where it hurts", helps.Epsilon, hurts.Epsilon)
	}
}

func TestEpsilonDoesNotDependOnTheOrder(t *testing.T) {
	samples := spread(12, 6, true)
	want := chosen(t, samples)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(samples),
		func(i, j int) { samples[i], samples[j] = samples[j], samples[i] })
	got := chosen(t, append(samples, samples[:5]...)) // some twice
	if got.Epsilon != want.Epsilon || !slices.EqualFunc(got.halves[0].sets, want.halves[0].sets, func(a, b pairs) bool {
		return slices.Equal(a.first.Data, b.first.Data) && slices.Equal(a.second.Data, b.second.Data)
	}) {
		t.Errorf("ε = %g, in another order %g, or of other images", want.Epsilon, got.Epsilon)
	}
}

func TestEpsilonIsSaved(t *testing.T) {
	p := chosen(t, spread(12, 6, true))
	file := filepath.Join(t.TempDir(), "p.prior")
	must.Do(t, p.Save(file))
	back, err := Load(file)
	if err != nil || back.Epsilon != p.Epsilon || back.Head().Epsilon != p.Epsilon || p.Epsilon == 0 {
		t.Errorf("ε = %g, loaded %+v, %v", p.Epsilon, back, err)
	}
}

// Two classes are one in each half, and nothing to tell apart.
func TestEpsilonOfTooFewClassesIsUnknown(t *testing.T) {
	if p := chosen(t, spread(2, 6, true)); p.Epsilon != 0 {
		t.Errorf("ε = %g", p.Epsilon)
	}
}
