package model

import (
	"context"
	"math"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestOldShareChangesThePrior: the odds of a base class against a later one change by
// exactly s/(1−s)·N/B, those within either kind stay; rows stay normalised, and nothing
// that was learned changes.
func TestOldShareChangesThePrior(t *testing.T) {
	m, _ := must.Get2(Train(context.Background(), settings("plda"), noisy(0, 6, "ant", "bee", "cat")))(t)
	test := noisy(3, 4, "ant", "cat", "dog", "eel")
	base := logProb(t, m, test)
	m.Predictor.OldShare = 0.9
	if !reflect.DeepEqual(logProb(t, m, test), base) {
		t.Error("without later classes the share makes a difference")
	}
	learn(t, m, noisy(1, 3, "dog", "eel"))
	m.Predictor.OldShare = 0
	plain := logProb(t, m, test)
	const B, N = 3, 2
	for _, s := range []float64{0.05, float64(B) / (B + N), 0.9} {
		m.Predictor.OldShare = OldShare(s)
		got := logProb(t, m, test)
		for r := 0; r < len(got); r += B + N {
			var sum float64
			for c := range B + N {
				sum += math.Exp(got[r+c])
				want := plain[r+c] - plain[r]
				if c >= B {
					want -= math.Log(s / (1 - s) * N / B)
				}
				if diff := got[r+c] - got[r]; math.Abs(diff-want) > 1e-9 {
					t.Fatalf("share %g: log-odds of column %d to the first %g, want %g", s, c, diff, want)
				}
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Fatalf("share %g: the sum of a row is %g", s, sum)
			}
		}
	}
}

// TestOldShareStays in the file, through later sessions and forgetting; a base class
// that is forgotten and learned again is a later one.
func TestOldShareStays(t *testing.T) {
	s := settings("plda")
	s.OldShare = 0.8
	m, _ := must.Get2(Train(context.Background(), s, noisy(0, 6, "ant", "bee", "cat")))(t)
	learn(t, m, noisy(1, 3, "dog"))
	must.Get(m.ForgetClass(context.Background(), "ant", Forgetting{}))(t)
	learn(t, m, noisy(0, 6, "ant"))
	path := filepath.Join(t.TempDir(), "m")
	save(t, m, path)
	back, test := mustLoad(t, path), noisy(3, 4, "ant", "cat")
	if back.Predictor.OldShare != 0.8 ||
		!reflect.DeepEqual(back.Predictor.base, baseClasses{"bee": true, "cat": true}) {
		t.Errorf("loaded: share %g, base classes %v", back.Predictor.OldShare, back.Predictor.base)
	}
	if !reflect.DeepEqual(m.Predictor.base, back.Predictor.base) ||
		!reflect.DeepEqual(logProb(t, m, test), logProb(t, back, test)) {
		t.Error("the loaded model predicts differently")
	}
	for _, wrong := range []OldShare{-0.1, 1, OldShare(math.NaN())} {
		s.OldShare = wrong
		if _, err := New(s); err == nil {
			t.Errorf("share %g is accepted", wrong)
		}
	}
}
