package advice_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/advice"
)

// learned returns a model of classes with the given numbers of images, and what was
// found by holding some out.
func learned(t *testing.T, found calibration.Calibration, sizes ...int) *model.Model {
	t.Helper()
	b := model.Batch{X: blas32.General{Cols: len(sizes), Stride: len(sizes)}}
	for k, n := range sizes {
		for i := range n {
			row := make([]float32, len(sizes))
			row[k], row[(k+1)%len(sizes)] = 1, float32(i)/10
			b.X.Data = append(b.X.Data, row...)
			b.Labels = append(b.Labels, string(rune('a'+k)))
			b.Paths = append(b.Paths, fmt.Sprintf("%d/%d", k, i))
			b.Content = append(b.Content, model.Hash(embedding.HashRow(row)))
		}
	}
	b.X.Rows = len(b.Labels)
	m, _ := must.Get2(model.Train(context.Background(), model.Settings{
		Method: "ncm", Heads: method.DefaultConfig(), Temperature: temperature.Config{Temperature: 1},
	}, b))(t)
	m.Predictor.Calibration = found
	return m
}

// TestOn: of the pairs that are confused, those that are both often named as the other
// may be one; a class with one image cannot be checked.
func TestOn(t *testing.T) {
	confused := []calibration.Confusion{
		{Class: "a", As: "b", Count: 2, Of: 6}, {Class: "c", As: "d", Count: 4, Of: 5},
		{Class: "b", As: "a", Count: 3, Of: 5}, {Class: "d", As: "c", Count: 1, Of: 3},
	}
	got := advice.On(learned(t, calibration.Calibration{
		Source: calibration.LeftOut, Samples: 19, Accuracy: 0.6, Weak: []string{"c", "gone"}, Confusions: confused,
	}, 6, 5, 5, 3, 1))
	if len(got.MayBeOne) != 1 || got.MayBeOne[0] != [2]calibration.Confusion{confused[0], confused[2]} {
		t.Errorf("may be one: %v", got.MayBeOne)
	}
	if !slices.Equal(got.Confused, []calibration.Confusion{confused[1], confused[3]}) {
		t.Errorf("confused: %v", got.Confused)
	}
	want := []string{
		"may be one   a and b: of their left-out photos 2 of 6 and 3 of 5 were named as the other; " +
			"if they show the same, give them one folder and train again",
		"more photos  c (5 so far): half or more of its left-out photos were named wrongly",
		"more photos  e: nothing can be checked with a single photo",
		"look at      c: 4 of 5 left-out photos were named d",
		"look at      d: 1 of 3 left-out photos were named c",
	}
	if lines := got.Sentences(); !slices.Equal(lines, want) {
		t.Errorf("%q", lines)
	}
	none := advice.On(learned(t, calibration.Calibration{Source: calibration.LeftOut, Samples: 4, Accuracy: 1}, 2, 2))
	if lines := none.Sentences(); !slices.Equal(lines, []string{"no class stands out"}) {
		t.Errorf("%q", lines)
	}
}

// TestRejected: a share is of photos like those learned, and what is known of others
// is said.
func TestRejected(t *testing.T) {
	known := make([]float64, calibration.Quantiles)
	other := make([]float64, calibration.Quantiles)
	for i := range known {
		known[i], other[i] = float64(i), float64(i+100)
	}
	like := calibration.Calibration{Source: calibration.LeftOut, Samples: 200,
		Novelty: calibration.Novelty{Quantiles: known}}
	bursts, once := like, like
	bursts.Other, once.Once = other, true
	for _, c := range []struct {
		name  string
		found calibration.Calibration
		share float64
		want  string
	}{
		{"like", like, 0.05, ""},
		{"bursts", bursts, 0.05, "reject=0.05 turns away about 5 % of the photos that are like those learned, and " +
			"of those of another occasion 15 % or more"},
		{"one occasion", once, 0.05, "reject=0.05 is for photos like those learned; how many of another occasion " +
			"it turns away cannot be known"},
		{"nothing rejected", bursts, 0, ""},
	} {
		c.found.Unseen = &calibration.Unseen{}
		if rough := advice.New(learned(t, c.found, 3, 3)) != ""; rough != c.found.Once {
			t.Errorf("%s: p_new is called rough: %t", c.name, rough)
		}
		if got := advice.Rejected(learned(t, c.found, 3, 3), c.share); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
