package method_test

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
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
)

// A chooser is a head that chose a setting on its base session.
type chooser interface {
	Choice() *episodes.Choice[float64]
}

func choosers() []string { return []string{"plda", "ppca"} }

// auto sets everything that heads can choose to automatic.
func auto() method.Config {
	c := given(0)
	setting("gpr.lengthscale", 0, "gpr.noise", 0)(&c)
	return c
}

// given returns settings with everything set that heads could choose.
func given(v float64) method.Config {
	return configured("plda.epsilon", v, "ppca.lambda", v)
}

// world returns n examples of each of the classes first … last−1. Some
// directions vary much more within the classes than others.
func world(first, last, n, d int) (blas32.General, []string) {
	x := blas32.General{Cols: d, Stride: d}
	var y []string
	for c := first; c < last; c++ {
		rng := rand.New(rand.NewPCG(11, uint64(c)))
		mean := make([]float64, d)
		for j := range mean {
			mean[j] = rng.NormFloat64()
		}
		for range n {
			for j := range d {
				x.Data = append(x.Data, float32(mean[j]+rng.NormFloat64()*6/float64(1+j%4)))
			}
			y = append(y, fmt.Sprintf("c%03d", c))
		}
	}
	x.Rows = len(y)
	return x, y
}

func chosenBy(head classifier.Learner) *episodes.Choice[float64] { return head.(chooser).Choice() }

func newHead(t *testing.T, name string, c method.Config) classifier.Learner {
	t.Helper()
	return must.Get(method.New(name, c))(t)
}

func taught(t *testing.T, m string, c method.Config, x blas32.General, y []string) classifier.Learner {
	t.Helper()
	head := newHead(t, m, c)
	teach(t, head, x, y)
	return head
}

func teach(t *testing.T, head classifier.Learner, x blas32.General, y []string) {
	t.Helper()
	must.Do(t, head.Learn(context.Background(), x, y))
}

func saved(t *testing.T, head classifier.Learner) classifier.State {
	t.Helper()
	return must.Get(head.(classifier.Saver).Save())(t)
}

// TestAutoFindsTheMiddle checks that the best setting lies inside the range of
// candidates, and that the one chosen without test data does better on it than
// either end.
func TestAutoFindsTheMiddle(t *testing.T) {
	for m, d := range map[string]int{"plda": 96, "ppca": 48} {
		x, y := world(0, 12, 12, d)
		shots, shotLabels := firstOf(world(12, 20, 25, d))
		test, testLabels := world(0, 20, 25, d)
		head := taught(t, m, auto(), x, y)
		c := chosenBy(head)
		least, most := c.Scores[len(c.Scores)-1].Candidate, c.Scores[0].Candidate
		if c.Value <= least || c.Value >= most {
			t.Errorf("%s: chose %g of %+v", m, c.Value, c.Scores)
		}
		right := func(v float64) float64 {
			head := taught(t, m, given(v), x, y)
			teach(t, head, shots, shotLabels)
			return percentRight(t, head, test, testLabels)
		}
		if mine, a, b := right(c.Value), right(least), right(most); mine <= a || mine <= b {
			t.Errorf("%s: %.1f %% right with %g, %.1f %% with %g, %.1f %% with %g", m, mine, c.Value, a, least, b, most)
		}
	}
}

// firstOf returns the first five examples of every class.
func firstOf(x blas32.General, y []string) (blas32.General, []string) {
	var rows []int
	var labels []string
	for _, g := range classifier.GroupByClass(y) {
		for _, r := range g.Rows[:5] {
			rows, labels = append(rows, r), append(labels, g.Class)
		}
	}
	return dense.Gather32(x, rows), labels
}

// TestAutoIsTheChosenSettingGiven checks that base session, later sessions and
// forgetting are bit for bit those of a head with the chosen setting given,
// also after saving and loading.
func TestAutoIsTheChosenSettingGiven(t *testing.T) {
	x, y := world(0, 8, 9, 6)
	more, moreLabels := world(8, 16, 9, 6)
	for _, name := range choosers() {
		head := taught(t, name, auto(), x, y)
		before := *chosenBy(head)
		back := must.Get(method.Load(name, saved(t, head)))(t)
		want := taught(t, name, given(before.Value), x, y)
		if chosenBy(want) != nil {
			t.Errorf("%s: a given setting was chosen", name)
		}
		for _, h := range []classifier.Learner{head, back, want} {
			teach(t, h, more, moreLabels)
			must.Do(t, h.(classifier.Forgetter).Forget("c003"))
		}
		for _, h := range []classifier.Learner{head, back} {
			if !reflect.DeepEqual(*chosenBy(h), before) {
				t.Errorf("%s: a later session changed the choice", name)
			}
			if !reflect.DeepEqual(saved(t, h).Tensors, saved(t, want).Tensors) ||
				!reflect.DeepEqual(answers(t, h, more), answers(t, want, more)) {
				t.Errorf("%s: differs from a head with %g given", name, before.Value)
			}
		}
		if !reflect.DeepEqual(saved(t, back), saved(t, head)) {
			t.Errorf("%s: loading before the second session makes a difference", name)
		}
	}
}

func answers(t *testing.T, head classifier.Head, x blas32.General) []classifier.Prediction {
	t.Helper()
	return must.Get(classifier.Predict(head, x, 3))(t)
}

// TestSharedWorkChangesNoScore checks that every score equals that of a head
// fitted from scratch, although what the candidates share is fitted once.
func TestSharedWorkChangesNoScore(t *testing.T) {
	x, y := world(0, 9, 12, 10)
	for _, m := range choosers() {
		got := *chosenBy(taught(t, m, auto(), x, y))
		var candidates []float64
		for _, s := range got.Scores {
			candidates = append(candidates, s.Candidate)
		}
		want, err := episodes.Choose(context.Background(), x, y, got.Config, candidates,
			func(ctx context.Context, x blas32.General, y []string) (func(float64) (classifier.Learner, error), error) {
				return func(v float64) (classifier.Learner, error) {
					head, err := method.New(m, given(v))
					if err != nil {
						return nil, err
					}
					return head, head.Learn(ctx, x, y)
				}, nil
			})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v\nfrom nothing %+v", m, got, err, want)
		}
	}
}

// TestForgettingAllMeansChoosingAgain checks that the next base session makes
// its own choice.
func TestForgettingAllMeansChoosingAgain(t *testing.T) {
	x, y := world(0, 5, 8, 4)
	for _, m := range choosers() {
		head := taught(t, m, auto(), x, y)
		for _, c := range slices.Clone(head.Classes()) {
			must.Do(t, head.(classifier.Forgetter).Forget(c))
		}
		if chosenBy(head) != nil {
			t.Errorf("%s: a choice outlived its classes", m)
		}
		other, otherLabels := world(5, 10, 8, 4)
		teach(t, head, other, otherLabels)
		if !reflect.DeepEqual(saved(t, head), saved(t, taught(t, m, auto(), other, otherLabels))) {
			t.Errorf("%s: differs from a fresh head", m)
		}
	}
}

// TestAutoReadsTheBaseSessionOnly checks that neither padding, nor the memory
// behind it, nor the order of the rows, nor the number of cores matters.
func TestAutoReadsTheBaseSessionOnly(t *testing.T) {
	x, y := world(0, 6, 12, 7)
	wide := blas32.General{Rows: x.Rows, Cols: 7, Stride: 9,
		Data: slices.Repeat([]float32{float32(math.NaN())}, 9*2*x.Rows)}
	for i := range x.Rows {
		copy(dense.Row32(wide, i), dense.Row32(x, i))
	}
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(y))
	mixed := make([]string, len(y))
	for i, r := range order {
		mixed[i] = y[r]
	}
	for _, m := range choosers() {
		head := taught(t, m, auto(), x, y)
		if !reflect.DeepEqual(saved(t, taught(t, m, auto(), wide, y)), saved(t, head)) {
			t.Errorf("%s: the padding of the matrix changes the head", m)
		}
		want := chosenBy(head)
		got := chosenBy(taught(t, m, auto(), dense.Gather32(x, order), mixed))
		if math.Abs(got.Value/want.Value-1) > 1e-12 {
			t.Errorf("%s: another order of rows: %g, want %g", m, got.Value, want.Value)
		}
		processors := runtime.GOMAXPROCS(1)
		if !reflect.DeepEqual(saved(t, taught(t, m, auto(), x, y)), saved(t, head)) {
			t.Errorf("%s: one core makes a difference", m)
		}
		runtime.GOMAXPROCS(processors)
	}
}

// TestAutoOnLittleData checks that the default is used, with the reason.
func TestAutoOnLittleData(t *testing.T) {
	x, y := world(0, 3, 30, 4)
	defaults := map[string]float64{"plda": plda.DefaultConfig().Epsilon, "ppca": ppca.DefaultConfig().Lambda}
	for _, m := range choosers() {
		head := taught(t, m, auto(), x, y)
		c := chosenBy(head)
		if c.Value != defaults[m] || !strings.Contains(c.Fallback, "4 classes") || c.Scores != nil {
			t.Errorf("%s: %+v", m, c)
		}
		if !strings.Contains(string(saved(t, head).Settings), c.Fallback) {
			t.Errorf("%s: the reason is not saved", m)
		}
	}
}

// TestAutoOnDegenerateData has enough classes and examples to choose from, but
// no information in them.
func TestAutoOnDegenerateData(t *testing.T) {
	for name, change := range map[string]func(x blas32.General){
		"zero":        func(x blas32.General) { clear(x.Data) },
		"equal":       func(x blas32.General) { copies(x, func(int) int { return 0 }) },
		"duplicates":  func(x blas32.General) { copies(x, func(i int) int { return i / 8 * 8 }) },
		"two of each": func(x blas32.General) { copies(x, func(i int) int { return i / 4 * 4 }) },
		"huge":        func(x blas32.General) { scale(x, 1e30) },
		"tiny":        func(x blas32.General) { scale(x, 1e-30) },
		"largest":     func(x blas32.General) { scale(x, 1e37) },
	} {
		x, y := world(0, 5, 8, 4)
		change(x)
		for _, preset := range []string{"default", "paper"} {
			for _, m := range choosers() {
				c := auto()
				setting("ppca.preset", preset)(&c)
				head := taught(t, m, c, x, y)
				for _, p := range answers(t, head, x) {
					if !(p.Probability > 0 && p.Probability <= 1) {
						t.Fatalf("%s, %s %s: probability %g", name, m, preset, p.Probability)
					}
				}
				if _, err := method.Load(m, saved(t, head)); err != nil {
					t.Errorf("%s, %s %s: %v", name, m, preset, err)
				}
			}
		}
	}
}

func copies(x blas32.General, from func(i int) int) {
	for i := range x.Rows {
		copy(dense.Row32(x, i), dense.Row32(x, from(i)))
	}
}

func scale(x blas32.General, by float32) {
	for i := range x.Data {
		x.Data[i] *= by
	}
}

// A fading context is cancelled after it was asked a number of times.
type fading struct {
	context.Context
	left atomic.Int64
}

func (c *fading) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancelledChoiceChangesNothing cancels at any of the points where a head
// checks.
func TestCancelledChoiceChangesNothing(t *testing.T) {
	x, y := world(0, 4, 6, 3)
	for _, m := range choosers() {
		empty := saved(t, newHead(t, m, auto()))
		for looks := int64(0); ; looks += 7 {
			ctx := &fading{Context: context.Background()}
			ctx.left.Store(looks)
			head := newHead(t, m, auto())
			err := head.Learn(ctx, x, y)
			if err == nil {
				if looks < 20 {
					t.Errorf("%s: looks at the context only %d times", m, looks)
				}
				break
			}
			if !errors.Is(err, context.Canceled) || chosenBy(head) != nil || !reflect.DeepEqual(saved(t, head), empty) {
				t.Fatalf("%s, cancelled after %d looks: %v, %+v", m, looks, err, chosenBy(head))
			}
		}
	}
}

// TestLoadRefusesForgedChoices covers choices that are out of range, not a
// candidate, missing, or recorded although the setting was given.
func TestLoadRefusesForgedChoices(t *testing.T) {
	x, y := world(0, 3, 6, 3)
	for _, m := range choosers() {
		good := saved(t, taught(t, m, auto(), x, y))
		value := fmt.Sprintf(`"value":%g`, chosenBy(taught(t, m, auto(), x, y)).Value)
		setting := map[string]string{"plda": "epsilon", "ppca": "lambda"}[m]
		for name, replace := range map[string][2]string{
			"out of range": {value, `"value":-1`}, "zero": {value, `"value":0`}, "no reason": {`"fallback"`, `"other"`},
			"missing":       {setting + "_choice", "other"},
			"given as well": {`"` + setting + `":0`, `"` + setting + `":0.5`},
		} {
			s := saved(t, taught(t, m, auto(), x, y))
			s.Settings = []byte(strings.Replace(string(good.Settings), replace[0], replace[1], 1))
			if string(s.Settings) == string(good.Settings) {
				t.Fatalf("%s, %s: nothing to forge in %s", m, name, good.Settings)
			}
			if _, err := method.Load(m, s); err == nil {
				t.Errorf("%s, %s: was loaded", m, name)
			}
		}
	}
}
