package pldaplus_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/classifier/pldaplus"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
)

func given(nu float64, change func(*pldaplus.Config)) pldaplus.Config {
	return config(config(pldaplus.DefaultPPCAEB(), func(c *pldaplus.Config) { c.Nu = nu }), change)
}

func nothing(*pldaplus.Config) {}

// TestPooledIsPLDA checks that ν = ∞ is plda, or without uncertainty the rule
// of LDA with this ε, and that ν = 1e11 is nearly the same.
func TestPooledIsPLDA(t *testing.T) {
	for _, c := range []struct{ C, n, d int }{{5, 20, 8}, {12, 9, 8}, {3, 4, 30}, {1, 5, 6}, {6, 1, 5}, {1, 1, 4}} {
		x, y := data(0, c.C, c.n, c.d, 1)
		more, _ := data(0, 7, 1, c.d, 2)
		labels := []string{"c000", "new five", "new five", "new five", "new one", "new five", "new five"}
		queries, _ := data(0, 6, 3, c.d, 3)
		want := must.Get(plda.New(plda.Config{Epsilon: 0.5, MeanLength: gauss.DefaultLength}))(t)
		learn(t, want, x, y)
		learn(t, want, more, labels)
		for nu, tol := range map[float64]float64{pldaplus.Pooled: 1e-8, 1e11: 1e-6} {
			got := learned(t, pldaplus.PPCAEB, given(nu, nothing), x, y)
			learn(t, got, more, labels)
			near(t, fmt.Sprintf("%+v, ν = %g", c, nu), got, want, queries, tol)
		}
	}
}

// TestUnfittedGuessesAsTheHead checks that heads which learn a part of the images of a
// head with two of each class guess nothing, as that did, also after it was loaded. On
// its own the part would, and their scores would be on another scale.
func TestUnfittedGuessesAsTheHead(t *testing.T) {
	const C, d, epsilon = 20, 8, 0.5
	x, y := data(0, C, 2, d, 1)
	kept := append([]int{1, 3, 5, 7}, dense.Range(8, 2*C)...)
	part, labels := dense.Gather32(x, kept), make([]string, len(kept))
	for i, r := range kept {
		labels[i] = y[r]
	}
	pooled := learned(t, pldaplus.PPCAEB, given(pldaplus.Pooled, nothing), x, y)
	session := must.Get(moments.NewSession(part, labels, 0, true))(t)
	basis := must.Get(gauss.Fit(t.Context(), linalg.Backend{}, session, session.Totals()))(t)
	if got := basis.Guessed(); math.Abs(got-0.2) > 1e-12 {
		t.Fatalf("a part guesses %g on its own, want 0.2", got)
	}
	basis.GuessAs(new(float64))
	want := must.Get(basis.Space(epsilon))(t)
	two := must.Get(plda.New(plda.Config{Epsilon: epsilon, MeanLength: gauss.DefaultLength}))(t)
	learn(t, two, x, y)
	for name, c := range map[string]struct {
		head classifier.Saver
		load func(classifier.State) (classifier.Unfitter, error)
	}{
		"plda": {two, func(s classifier.State) (classifier.Unfitter, error) { return plda.Load(s) }},
		"ppca-eb": {pooled,
			func(s classifier.State) (classifier.Unfitter, error) { return pldaplus.Load(pldaplus.PPCAEB, s) }},
	} {
		s := must.Get(c.head.Save())(t)
		loaded := must.Get(c.load(s))(t)
		for _, head := range []classifier.Unfitter{c.head.(classifier.Unfitter), loaded} {
			fold := must.Get(head.Unfitted())(t)
			learn(t, fold, part, labels)
			got := fold.(gauss.Spacer).Space()
			if !floats.EqualApprox(got.Whiten.Dense().Data, want.Whiten.Dense().Data, 1e-9) ||
				!floats.EqualApprox(got.Beta, want.Beta, 1e-9) {
				t.Errorf("%s: a part of its images gives another space", name)
			}
		}
	}
}

// TestStreamingEqualsBatch learns the base examples at once and the rest one by
// one, in pieces, all at once, or with extra examples that are forgotten again.
func TestStreamingEqualsBatch(t *testing.T) {
	for _, n := range []int{3, 8, 30} { // n < d, about d, beyond
		base, y := data(0, 4, 6, 8, 1)
		more, labels := data(2, 4, n, 8, 2)
		queries, _ := data(0, 6, 3, 8, 3)
		cfg := given(4, func(c *pldaplus.Config) { c.Student = true })
		batch := learned(t, pldaplus.PPCAEB, cfg, base, y)
		learn(t, batch, more, labels)
		stream := learned(t, pldaplus.PPCAEB, cfg, base, y)
		for i := range labels {
			learn(t, stream, dense.Rows32(more, i, i+1), labels[i:i+1])
		}
		near(t, fmt.Sprintf("n=%d one by one", n), stream, batch, queries, 1e-6)
		extra, extraLabels := data(1, 6, 5, 8, 4)
		learn(t, batch, extra, extraLabels)
		must.Do(t, batch.ForgetSamples(extra, extraLabels))
		near(t, fmt.Sprintf("n=%d with more that was forgotten", n), batch, stream, queries, 1e-6)
	}
}

// auto returns a base session that is large enough for pseudo-sessions, and
// shots.
func auto(t *testing.T) (*pldaplus.Head, blas32.General, []string) {
	t.Helper()
	x, y := data(0, 8, 14, 6, 1)
	return learned(t, pldaplus.PLDAPlus, fewSplits(), x, y), x, y
}

func fewSplits() pldaplus.Config {
	return config(pldaplus.DefaultPLDAPlus(), func(c *pldaplus.Config) { c.Splits = 3 })
}

func saved(t *testing.T, h *pldaplus.Head) classifier.State {
	t.Helper()
	return must.Get(h.Save())(t)
}

// TestChoiceReadsTheBaseSessionOnly checks that neither later sessions nor the
// order of the rows nor the number of cores changes the choice.
func TestChoiceReadsTheBaseSessionOnly(t *testing.T) {
	h, x, y := auto(t)
	before := *h.Choice()
	if before.Fallback != "" || len(before.Scores) == 0 || before.Value != h.Setting() {
		t.Fatalf("%+v", before)
	}
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(y))
	mixed := make([]string, len(y))
	for i, r := range order {
		mixed[i] = y[r]
	}
	other := learned(t, pldaplus.PLDAPlus, fewSplits(), dense.Gather32(x, order), mixed)
	if got := other.Choice().Value; got.Nu != before.Value.Nu || got.Kappa != before.Value.Kappa ||
		got.Rerank != before.Value.Rerank {
		t.Errorf("another order of rows: %+v, want %+v", got, before.Value)
	}
	processors := runtime.GOMAXPROCS(1)
	one := learned(t, pldaplus.PLDAPlus, fewSplits(), x, y)
	runtime.GOMAXPROCS(processors)
	if !reflect.DeepEqual(saved(t, one), saved(t, h)) {
		t.Error("one core makes a difference")
	}
	more, labels := data(10, 3, 5, 6, 2)
	learn(t, h, more, labels)
	if !reflect.DeepEqual(*h.Choice(), before) {
		t.Error("a later session changed the choice")
	}
	for _, c := range slices.Clone(h.Classes()) {
		must.Do(t, h.Forget(c))
	}
	if h.Choice() != nil || h.Setting() != (pldaplus.Setting{}) {
		t.Error("a choice outlived its classes")
	}
	learn(t, h, x, y)
	if !reflect.DeepEqual(saved(t, h), saved(t, one)) {
		t.Error("forgotten altogether and learned again differs from a fresh head")
	}
}

// TestRerankedGoesRoundTrip saves and loads a head with a regression, and
// forgets a base class and a later one.
func TestRerankedGoesRoundTrip(t *testing.T) {
	h, x, y := auto(t)
	h = h.With(pldaplus.Setting{Nu: 30, Kappa: 10, Temperature: 2, Later: 1, Rerank: 1}, x, y)
	more, labels := data(10, 3, 5, 6, 2)
	learn(t, h, more, labels)
	queries, _ := data(0, 6, 3, 6, 3)
	classifiertest.CheckExport(t, h, queries)
	s := saved(t, h)
	if _, err := pldaplus.Load(pldaplus.PLDAPlus, s); err == nil {
		t.Error("a setting that was not chosen was loaded")
	}
	s.Settings = []byte(strings.Replace(string(s.Settings), `"choice":`, `"other":`, 1))
	if _, err := pldaplus.Load(pldaplus.PLDAPlus, s); err == nil {
		t.Error("was loaded without its choice")
	}
	if _, err := pldaplus.Load(pldaplus.PPCAEB, saved(t, h)); err == nil {
		t.Error("was loaded as another method")
	}
	for _, c := range []string{"c001", "c011"} {
		must.Do(t, h.Forget(c))
	}
	classifiertest.CheckExport(t, h, queries)
	for i, l := range classifiertest.LogProb(t, h, queries).Data {
		if !(l <= 1e-12) {
			t.Fatalf("log-probability %d is %g", i, l)
		}
	}
}

// TestLittleData checks that base sessions too small for pseudo-sessions are
// recorded as such and give plda, and that new classes can still be learned and
// told apart.
func TestLittleData(t *testing.T) {
	for _, c := range []struct{ C, n int }{{60, 5}, {1, 1}, {1, 20}, {20, 1}, {3, 40}} {
		x, y := data(0, c.C, c.n, 10, 1)
		h := learned(t, pldaplus.PLDAPlus, pldaplus.DefaultPLDAPlus(), x, y)
		if f := h.Choice().Fallback; !strings.Contains(f, "4 classes") || h.Setting().Nu != pldaplus.Pooled {
			t.Errorf("base of %d×%d: %q, %+v", c.C, c.n, f, h.Setting())
		}
		more, labels := data(100, 20, 1, 10, 2)
		learn(t, h, more, labels)
		predictions := must.Get(classifier.Predict(h, more, 1))(t)
		right := 0
		for i, p := range predictions {
			if p.Label == labels[i] {
				right++
			}
		}
		if right < 15 {
			t.Errorf("base of %d×%d: %d of 20 single examples are recognised", c.C, c.n, right)
		}
	}
}

func TestStatisticsSwitchedOff(t *testing.T) {
	x, y := data(0, 3, 8, 6, 1)
	h := learned(t, pldaplus.PPCAEB, given(5, func(c *pldaplus.Config) { c.Statistics = false }), x, y)
	if err := h.Learn(context.Background(), x, y); !errors.Is(err, classifier.ErrNoStatistics) {
		t.Errorf("learn: %v", err)
	}
	if err := h.ForgetSamples(x, y); !errors.Is(err, classifier.ErrNoStatistics) {
		t.Errorf("forget samples: %v", err)
	}
}

func TestValidateNamesTheField(t *testing.T) {
	for field, change := range map[string]func(*pldaplus.Config){
		"epsilon": func(c *pldaplus.Config) { c.Epsilon = 0 }, "q": func(c *pldaplus.Config) { c.Q = -1 },
		"nu": func(c *pldaplus.Config) { c.Nu = 1e13 }, "splits": func(c *pldaplus.Config) { c.Splits = 0 },
	} {
		if err := config(pldaplus.DefaultPLDAPlus(), change).Validate(); err == nil ||
			!strings.HasPrefix(err.Error(), field+":") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func BenchmarkPLDAPlusFit(b *testing.B) {
	for _, c := range []struct{ C, n, d int }{{60, 50, 192}, {60, 500, 192}, {60, 500, 1280}} {
		x, y := data(0, c.C, c.n, c.d, 1)
		b.Run(fmt.Sprintf("C=%d_n=%d_d=%d_splits=9", c.C, c.C*c.n, c.d), func(b *testing.B) {
			for b.Loop() {
				h := must.Get(pldaplus.New(pldaplus.PLDAPlus, pldaplus.DefaultPLDAPlus()))(b)
				must.Do(b, h.Learn(context.Background(), x, y))
			}
		})
	}
}

func BenchmarkPPCAEBScore(b *testing.B) {
	const n = 256
	for _, c := range []struct{ C, d int }{{100, 192}, {100, 640}, {1000, 640}} {
		x, y := data(0, c.C, 24, c.d, 1)
		h := must.Get(pldaplus.New(pldaplus.PPCAEB, given(100, func(c *pldaplus.Config) { c.Statistics = false })))(b)
		must.Do(b, h.Learn(context.Background(), x, y))
		q, _ := data(0, n, 1, c.d, 2)
		novelty := make([]float64, n)
		b.Run(fmt.Sprintf("C=%d_d=%d_q=20_n=%d", c.C, c.d, n), func(b *testing.B) {
			for b.Loop() {
				must.Do(b, h.Score(dense.New(len(novelty), len(h.Classes())), novelty, q))
			}
		})
	}
}
