package advice_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/advice"
)

// TestNext: each figure leads to its step, in this order.
func TestNext(t *testing.T) {
	ready := advice.Teaching{
		Read: 50, Fitted: true, Known: []model.ClassInfo{{Name: "cat", Samples: 3}, {Name: "dog", Samples: 8}},
		Open: 40, Unknown: 4, Doubtful: 2, Recent: math.NaN(),
	}
	for _, c := range []struct {
		name   string
		change func(*advice.Teaching)
		do     string
		words  string
	}{
		{"nothing read", func(t *advice.Teaching) { t.Read, t.Fitted = 0, false }, "wait", "being read"},
		{"not fitted", func(t *advice.Teaching) { t.Problem = errors.New("no memory") }, "wait", "no memory"},
		{"no model", func(t *advice.Teaching) { t.Fitted = false }, "start", "two classes"},
		{"few photos", func(t *advice.Teaching) { t.Known[0].Samples = 2 }, "more", "of cat: the model knows 2"},
		{"a tenth unknown", func(*advice.Teaching) {}, "check", "least certain"},
		{"more unknown", func(t *advice.Teaching) { t.Unknown = 5 }, "unknown", "5 photos"},
		{"doubt and nothing open", func(t *advice.Teaching) { t.Open, t.Unknown = 0, 0 }, "suspicious", "2 labels"},
		{"nothing open", func(t *advice.Teaching) { t.Open, t.Unknown, t.Doubtful = 0, 0, 0 }, "stop", "Every photo"},
		{"nothing open, not all looked at",
			func(t *advice.Teaching) { t.Open, t.Unknown, t.Doubtful, t.Unchecked = 0, 0, 0, 65 },
			"suspicious", "nobody has looked at 65"},
		{"good", func(t *advice.Teaching) { t.Recent = 0.97 }, "stop", "change little"},
		{"good and sure", func(t *advice.Teaching) { t.Recent, t.Sure = 1, 7 }, "accept", "the 7 photos above 95 %"},
		{"not good", func(t *advice.Teaching) { t.Recent, t.Sure = 0.96, 7 }, "check", "least certain"},
	} {
		figures := ready
		figures.Known = append([]model.ClassInfo{}, ready.Known...)
		c.change(&figures)
		if got := figures.Next(); got.Do != c.do || !strings.Contains(got.Text, c.words) {
			t.Errorf("%s: %+v, want %s with %q", c.name, got, c.do, c.words)
		}
	}
}
