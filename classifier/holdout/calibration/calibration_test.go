package calibration

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// world draws sessions of a Gaussian mixture: class means of variance 1, within
// each class the given variance, in d dimensions.
type world struct {
	rng    *rand.Rand
	d      int
	within float64
	means  map[string][]float64
}

func newWorld(seed uint64, d int, within float64) *world {
	return &world{rand.New(rand.NewPCG(seed, 1)), d, within, map[string][]float64{}}
}

// session draws n examples of each of the classes from first to last.
func (w *world) session(first, last, n int) episodes.Episode {
	s := episodes.Episode{X: blas32.General{Cols: w.d, Stride: w.d}}
	for c := first; c < last; c++ {
		name := fmt.Sprintf("c%03d", c)
		if w.means[name] == nil {
			for range w.d {
				w.means[name] = append(w.means[name], w.rng.NormFloat64())
			}
		}
		for range n {
			for _, m := range w.means[name] {
				s.X.Data = append(s.X.Data, float32(m+math.Sqrt(w.within)*w.rng.NormFloat64()))
			}
			s.X.Rows++
			s.Y = append(s.Y, name)
		}
	}
	return s
}

func fresh() (classifier.Learner, error) { return plda.New(plda.Config{Epsilon: 0.3}) }

// taught returns a head that has learned the sessions.
func taught(t *testing.T, sessions ...episodes.Episode) classifier.Learner {
	t.Helper()
	head := must.Get(fresh())(t)
	for _, s := range sessions {
		must.Do(t, head.Learn(context.Background(), s.X, s.Y))
	}
	return head
}

// test returns the accuracy of a head, its mean negative log-likelihood at a
// temperature, and the share of rows whose novelty exceeds a threshold.
func test(t *testing.T, head classifier.Head, s episodes.Episode, T, threshold float64) (accuracy, nll,
	rejected float64) {
	t.Helper()
	n := float64(len(s.Y))
	must.Do(t, episodes.Answers(head, s, func(_ int, a episodes.Answer) {
		row := slices.Clone(a.LogProb)
		for j := range row {
			row[j] /= T
		}
		classifier.LogSoftmax(row)
		nll -= row[a.Own] / n
		if floats.MaxIdx(row) == a.Own {
			accuracy += 1 / n
		}
		if a.Novelty > threshold {
			rejected += 1 / n
		}
	}))
	return accuracy, nll, rejected
}

// What is announced holds on new examples of the same classes, on average over
// some draws: the accuracy within three points, the rejected share within five,
// and a likelihood close to that of the best temperature. With two examples of a class
// the folds have fewer pairs than classes, and the covariance needs more classes.
func TestWhatIsAnnouncedHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("calibrates two dozen heads in the same way")
	}
	const draws = 6
	for _, c := range []struct{ n, base, classes int }{{2, 80, 80}, {4, 20, 40}, {8, 20, 40}, {16, 20, 40}} {
		var surplus, excess, share float64
		for seed := range uint64(draws) {
			w := newWorld(seed, 24, 3)
			sessions := []episodes.Episode{w.session(0, c.base, c.n)}
			if c.classes > c.base {
				sessions = append(sessions, w.session(c.base, c.classes, c.n))
			}
			head := taught(t, sessions...)
			v, found,
				err := Fit(context.Background(), Task{Sessions: sessions, Fresh: head.(classifier.Unfitter).Unfitted})
			if err != nil || found.Source != LeftOut || found.Samples != c.classes*c.n {
				t.Fatalf("%d examples: %+v, %v", c.n, found, err)
			}
			threshold := must.Get(found.Threshold(0.2, 0))(t)
			queries := w.session(0, c.classes, 20)
			accuracy, nll, rejected := test(t, head, queries, v.T, threshold)
			best := math.Inf(1)
			for logT := -1.0; logT < 2; logT += 0.2 {
				_, other, _ := test(t, head, queries, math.Exp(logT), 0)
				best = min(best, other)
			}
			surplus, excess, share = surplus+(found.Accuracy-accuracy)/draws, excess+(nll-best)/draws, share+
				rejected/draws
		}
		if math.Abs(surplus) > 0.03 || excess > 0.03 || math.Abs(share-0.2) > 0.05 {
			t.Errorf("%d examples: announced accuracy off by %.3f, likelihood by %.3f, %.3f rejected at 0.2", c.n,
				surplus, excess, share)
		}
		t.Logf("%d examples: announced accuracy off by %.3f, likelihood by %.3f, %.3f rejected at 0.2", c.n, surplus,
			excess, share)
	}
}

// With two or four examples of a class a left-out one is farther from the rest of
// its class than a new one will be; the rejected share holds all the same.
func TestShareOfAFewExamples(t *testing.T) {
	nearest := func() (classifier.Learner, error) { return ncm.New(ncm.Config{Metric: ncm.Euclidean}) }
	for _, n := range []int{2, 4} {
		for _, want := range []float64{0.05, 0.2} {
			var share float64
			const draws = 4
			for seed := range uint64(draws) {
				w := newWorld(seed, 24, 1)
				s, queries := w.session(0, 60, n), w.session(0, 60, 20)
				_, c := must.Get2(Fit(context.Background(), Task{Sessions: []episodes.Episode{s}, Fresh: nearest}))(t)
				threshold, err := c.Threshold(want, 0)
				head, _ := nearest()
				must.Do(t, errors.Join(err, head.Learn(context.Background(), s.X, s.Y)))
				_, _, rejected := test(t, head, queries, 1, threshold)
				share += rejected / draws
			}
			if math.Abs(share-want) > 0.04 {
				t.Errorf("%d examples: %.3f rejected at %v", n, share, want)
			}
			t.Logf("%d examples: %.3f rejected at %v", n, share, want)
		}
	}
}

// A moved example is as far from what is left of its class as a new one from all.
func TestApproach(t *testing.T) {
	w := newWorld(7, 60, 2)
	for m, left := range []int{1, 2, 6} {
		rest, out := w.session(10*m, 10*m+10, left), w.session(10*m, 10*m+10, 1)
		approach(out, rest, nil, sizesOf(out, rest))
		var got float64
		for i := range out.Y {
			for j, v := range dense.Row32(out.X, i) {
				var mean float64
				for k := range left {
					mean += float64(dense.Row32(rest.X, left*i+k)[j]) / float64(left)
				}
				got += (float64(v) - mean) * (float64(v) - mean) / 600
			}
		}
		if want := 2 * (1 + 1/float64(left+1)); math.Abs(got/want-1) > 0.15 {
			t.Errorf("%d left: variance %.3f, want %.3f", left, got, want)
		}
	}
}

// sizesOf counts the examples of each class that are left, and all of them.
func sizesOf(out, rest episodes.Episode) map[string][2]int {
	sizes := map[string][2]int{}
	for _, y := range rest.Y {
		sizes[y] = [2]int{sizes[y][0] + 1, sizes[y][1] + 1}
	}
	for _, y := range out.Y {
		sizes[y] = [2]int{sizes[y][0], sizes[y][1] + 1}
	}
	return sizes
}

// The fold of an example depends on content, and everything of it is left out.
func TestLeavesEverythingOut(t *testing.T) {
	w := newWorld(1, 4, 1)
	sessions := []episodes.Episode{w.session(0, 3, 7), w.session(2, 5, 2), w.session(5, 6, 1)}
	deal, _ := must.Get2(Task{Sessions: sessions, Fresh: fresh}.splits())(t)
	held := deal.held
	if held[2][0] != -1 {
		t.Errorf("a single example in fold %d", held[2][0])
	}
	for f := range Folds {
		learned := 0
		out, err := (Task{Sessions: sessions, Fresh: func() (classifier.Learner, error) {
			head, err := fresh()
			return counting{head, &learned}, err
		}}).leave(context.Background(), deal, f)
		if err != nil || learned+len(out.novelty) != 28 || len(out.novelty) < 2 || len(out.novelty) > 3 {
			t.Errorf("fold %d: %d learned, %d asked, %v", f, learned, len(out.novelty), err)
		}
	}
	order := w.rng.Perm(21)
	sessions = []episodes.Episode{sessions[0].Pick(order), sessions[1], sessions[2]}
	mixed, _ := must.Get2(Task{Sessions: sessions, Fresh: fresh}.splits())(t)
	for i, j := range order {
		if mixed.held[0][i] != held[0][j] {
			t.Fatal("the folds depend on the order of the examples")
		}
	}
}

// A fold of a Counting head has one example of every class, and no more folds than
// that takes.
func TestFoldsOfACountingHead(t *testing.T) {
	w := newWorld(8, 40, 1) // no two examples of so many numbers are alike
	s := w.session(0, 5, 3)
	asked := make(chan []string, Folds)
	_, c, err := Fit(context.Background(),
		Task{Sessions: []episodes.Episode{s}, Fresh: func() (classifier.Learner, error) {
			head, err := fresh()
			return balanced{head, asked}, err
		}})
	if err != nil || c.Samples != 15 || len(asked) != 3+5 {
		t.Fatalf("%d samples in %d fits, %v", c.Samples, len(asked), err)
	}
	for range 3 { // the five classes are left out afterwards
		for _, g := range classifier.GroupByClass(<-asked) {
			if len(g.Rows) != 2 {
				t.Errorf("a fold leaves %d examples of %s", len(g.Rows), g.Class)
			}
		}
	}
}

// balanced is Counting, and reports what it learns.
type balanced struct {
	classifier.Learner
	learned chan []string
}

func (b balanced) Counting() bool { return true }

func (b balanced) Learn(ctx context.Context, x blas32.General, y []string) error {
	b.learned <- y
	return b.Learner.Learn(ctx, x, y)
}

// sharper is a head whose probabilities are too sure by a factor until it learns later
// classes.
type sharper struct {
	classifier.Learner
	sessions int
}

func (s *sharper) Learn(ctx context.Context, x blas32.General, y []string) error {
	s.sessions++
	return s.Learner.Learn(ctx, x, y)
}

func (s *sharper) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	err := s.Learner.Score(dst, novelty, x)
	if s.sessions == 1 {
		for i := range dst.Rows {
			floats.Scale(4, dense.Row(dst, i))
			classifier.LogSoftmax(dense.Row(dst, i))
		}
	}
	return err
}

// The temperature suits base classes alone, and base classes with later ones: one T
// for both would suit neither.
func TestTemperatureFollowsLaterClasses(t *testing.T) {
	w := newWorld(5, 24, 3)
	base, later := w.session(0, 20, 40), w.session(20, 33, 5)
	made := func() (classifier.Learner, error) {
		head, err := fresh()
		return &sharper{Learner: head}, err
	}
	v, c, err := Fit(context.Background(), Task{Sessions: []episodes.Episode{base}, Fresh: made})
	if err != nil || c.Source != PseudoSessions {
		t.Fatalf("%+v, %v", c, err)
	}
	head := must.Get(made())(t)
	for i, s := range []episodes.Episode{base, later} {
		must.Do(t, head.Learn(context.Background(), s.X, s.Y))
		queries := w.session(0, len(head.Classes()), 20)
		var l temperature.Likelihood
		must.Do(t, episodes.Answers(head, queries,
			func(_ int, a episodes.Answer) { l.Add(a.LogProb, a.Own) }))
		used, best := v.With(float64(i)*13/33), l.Minimum()
		if _, nll, _ := test(t, head, queries, used.T, 0); nll > best.After+0.02 {
			t.Errorf("session %d: NLL %.3f at T = %.3g, %.3f at %.3g", i+1, nll, used.T, best.After, best.T)
		}
	}
}

// counting counts the examples that a head learns.
type counting struct {
	classifier.Learner
	n *int
}

func (c counting) Learn(ctx context.Context, x blas32.General, y []string) error {
	*c.n += len(y)
	return c.Learner.Learn(ctx, x, y)
}

func TestSources(t *testing.T) {
	w := newWorld(2, 6, 1)
	for name, c := range map[string]struct {
		sessions []episodes.Episode
		want     Source
	}{
		"small":              {[]episodes.Episode{w.session(0, 8, 5)}, LeftOut},
		"large":              {[]episodes.Episode{w.session(0, 8, 21)}, PseudoSessions},
		"large, few classes": {[]episodes.Episode{w.session(0, 3, 40)}, LeftOut},
		"one each":           {[]episodes.Episode{w.session(0, 8, 1)}, Simulated},
		"mostly one each":    {[]episodes.Episode{w.session(0, 2, 5), w.session(2, 8, 1)}, Simulated},
		"some of one":        {[]episodes.Episode{w.session(0, 6, 5), w.session(6, 8, 1)}, LeftOut},
		"one class":          {[]episodes.Episode{w.session(0, 1, 9)}, None},
	} {
		v, got, err := Fit(context.Background(), Task{Sessions: c.sessions, Fresh: fresh})
		if err != nil || got.Source != c.want || !(v.T > 0) || (v.Fallback != "") != (c.want == None) {
			t.Errorf("%s: %q, want %q; %+v, %v", name, got.Source, c.want, v, err)
		}
		if (got.Quantiles == nil) != (got.Reason != "") || got.Check() != nil {
			t.Errorf("%s: %d quantiles, reason %q", name, len(got.Quantiles), got.Reason)
		}
	}
}

// A few examples that are all right do not make a head certain.
func TestAFewRightAnswersAreNoProof(t *testing.T) {
	w := newWorld(3, 6, 0.02)
	v, c, err := Fit(context.Background(), Task{Sessions: []episodes.Episode{w.session(0, 3, 3)}, Fresh: fresh})
	if err != nil || c.Accuracy != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	best := 0.0
	head := taught(t, w.session(0, 3, 3))
	_ = episodes.Answers(head, w.session(0, 3, 5), func(_ int, a episodes.Answer) {
		row := slices.Clone(a.LogProb)
		for j := range row {
			row[j] /= v.T
		}
		classifier.LogSoftmax(row)
		best = max(best, math.Exp(slices.Max(row)))
	})
	if best > 0.99 {
		t.Errorf("after 9 examples it is certain to %.6f", best)
	}
}

func TestConfusions(t *testing.T) {
	wrong := map[[2]string]int{{"a", "b"}: 2, {"c", "b"}: 2, {"a", "c"}: 1, {"d", "a"}: 4}
	of := map[string]int{"a": 4, "b": 9, "c": 2, "d": 9}
	want := []Confusion{{"c", "b", 2, 2}, {"a", "b", 2, 4}, {"d", "a", 4, 9}, {"a", "c", 1, 4}}
	if got := Confusions(wrong, of); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	if got := weak(wrong, of); !slices.Equal(got, []string{"c", "a"}) {
		t.Errorf("weak: %v", got)
	}
}

// TestConfusionsOfManyExamples: of classes so large that pseudo-sessions are made, the two that are alike are
// named, and each example counts once.
func TestConfusionsOfManyExamples(t *testing.T) {
	w := newWorld(3, 20, 0.4)
	w.session(0, 6, 0)
	w.means["c001"] = slices.Clone(w.means["c000"])
	s := w.session(0, 6, 30)
	_, c, err := Fit(t.Context(), Task{Sessions: []episodes.Episode{s}, Fresh: fresh})
	if err != nil || c.Source != PseudoSessions || len(c.Confusions) < 2 {
		t.Fatalf("%v, %+v", err, c)
	}
	for _, pair := range c.Confusions[:2] {
		twins := pair.Class+pair.As == "c000c001" || pair.Class+pair.As == "c001c000"
		if !twins || 3*pair.Count < pair.Of || pair.Of > 30 {
			t.Errorf("%+v", pair)
		}
	}
}

func TestSimulatedExamplesAreCorrelated(t *testing.T) {
	w := newWorld(4, 40, 0.5)
	s := w.session(0, 60, 1)
	pairs := second(s)
	var mean [40]float64
	for i := range 60 {
		for j, v := range dense.Row32(s.X, i) {
			mean[j] += float64(v) / 60
		}
	}
	var own, self, other float64
	for i := range pairs.X.Rows {
		if pairs.Y[i] != s.Y[i%60] {
			t.Fatal("classes do not match")
		}
		for j, v := range dense.Row32(pairs.X, i) {
			a, b := float64(v)-mean[j], float64(dense.Row32(s.X, i%60)[j])-mean[j]
			own, self, other = own+a*b, self+a*a, other+b*b
		}
	}
	if r := own / math.Sqrt(self*other); math.Abs(r-correlation) > 0.05 {
		t.Errorf("correlation %.3f", r)
	}
}

func TestStopsAndReports(t *testing.T) {
	w := newWorld(5, 4, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Fit(ctx, Task{Sessions: []episodes.Episode{w.session(0, 4, 4)}, Fresh: fresh}); !errors.Is(err,
		context.Canceled) {
		t.Error(err)
	}
	broken := errors.New("broken")
	if _, _, err := Fit(context.Background(), Task{Sessions: []episodes.Episode{w.session(0, 4, 4)},
		Fresh: func() (classifier.Learner, error) { return nil, broken }}); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// TestNotFiniteNovelty also keeps the temperature.
func TestNotFiniteNovelty(t *testing.T) {
	w := newWorld(6, 4, 1)
	v, c, err := Fit(context.Background(),
		Task{Sessions: []episodes.Episode{w.session(0, 6, 5)}, Fresh: func() (classifier.Learner, error) {
			head, err := fresh()
			return lost{head}, err
		}})
	if err != nil || v.T == 1 || c.Quantiles != nil || c.Reason == "" {
		t.Errorf("%+v, %q, %v", v, c.Reason, err)
	}
}

type lost struct{ classifier.Learner }

func (l lost) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	err := l.Learner.Score(dst, novelty, x)
	for i := range novelty {
		novelty[i] = math.NaN()
	}
	return err
}

// On shelves (bursts of four photos that are nearly alike) single examples promise more
// than another occasion holds; groups held out do not, and the temperature is theirs. Where
// no two photos are alike there is one figure.
func TestBurstsAreHeldOutWhole(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		bursts, photos int
		within         float64
		two            bool
		off            float64
	}{{3, 4, 0.05, true, 0.1}, {12, 1, 0, false, 0}} {
		w := newWorld(21, 40, 6)
		learned, other := w.bursts(30, c.bursts, c.photos, c.within), w.bursts(30, 40, 1, 0)
		same := w.again(learned, c.within)
		v, got := must.Get2(Fit(ctx, Task{Sessions: []episodes.Episode{learned}, Fresh: fresh}))(t)
		head := taught(t, learned)
		elsewhere := accuracyOf(t, head, other)
		t.Logf("%d bursts of %d: like these %.3f, elsewhere %.3f (true %.3f), T %.2f",
			c.bursts, c.photos, got.Accuracy, got.Elsewhere, elsewhere, v.T)
		if (got.Elsewhere > 0) != c.two {
			t.Errorf("%d bursts of %d: elsewhere %.3f", c.bursts, c.photos, got.Elsewhere)
		}
		if !c.two {
			continue
		}
		if math.Abs(got.Elsewhere-elsewhere) > c.off {
			t.Errorf("elsewhere %.3f, in truth %.3f", got.Elsewhere, elsewhere)
		}
		threshold := must.Get(got.Threshold(0.1, 0))(t)
		away := exceeding(asked(t, head, other), threshold)
		if said, ok := got.Novelty.Elsewhere(threshold); !ok || said < 0.15 || math.Abs(said-away) > c.off {
			t.Errorf("of another occasion %.3f are turned away, in truth %.3f", said, away)
		}
		like := accuracyOf(t, head, same)
		if math.Abs(got.Accuracy-like) > 0.05 {
			t.Errorf("like these %.3f, in truth %.3f", got.Accuracy, like)
		}
		if said := expected(t, head, v.T, got, same); math.Abs(said-like) > 0.05 || got.Understated < 0.05 {
			t.Errorf("of a folder of these %.3f, in truth %.3f; understated by %.3f", said, like, got.Understated)
		}
		if said := expected(t, head, v.T, got, other); math.Abs(said-elsewhere) > c.off {
			t.Errorf("of a folder of another occasion %.3f, in truth %.3f", said, elsewhere)
		}
	}
}

// expected returns the share of right labels that is expected of a folder.
func expected(t *testing.T, head classifier.Head, temp float64, c Calibration, s episodes.Episode) float64 {
	t.Helper()
	f := NewFolder(c)
	must.Do(t, episodes.Answers(head, s, func(_ int, a episodes.Answer) {
		row := slices.Clone(a.LogProb)
		floats.Scale(1/temp, row)
		classifier.LogSoftmax(row)
		f.Add(math.Exp(slices.Max(row)), a.Novelty)
	}))
	share, _, _, ok := f.Expect()
	if !ok {
		t.Fatal("nothing is expected")
	}
	return share
}

// exceeding returns the share of values above a limit.
func exceeding(values []float64, limit float64) float64 {
	n := 0.0
	for _, v := range values {
		if v > limit {
			n++
		}
	}
	return n / float64(len(values))
}

// bursts draws photos of classes: each burst has a place of its own in its class.
func (w *world) bursts(classes, n, photos int, within float64) episodes.Episode {
	out := episodes.Episode{X: blas32.General{Cols: w.d, Stride: w.d}}
	centres := w.session(0, classes, n)
	for i, name := range centres.Y {
		for range photos {
			for _, v := range dense.Row32(centres.X, i) {
				out.X.Data = append(out.X.Data, v+float32(math.Sqrt(within)*w.rng.NormFloat64()))
			}
			out.Y = append(out.Y, name)
		}
	}
	out.X.Rows = len(out.Y)
	return out
}

// again draws one more photo like each.
func (w *world) again(s episodes.Episode, within float64) episodes.Episode {
	out := s.Pick(dense.Range(0, s.X.Rows))
	for i := range out.X.Data {
		out.X.Data[i] += float32(math.Sqrt(within) * w.rng.NormFloat64())
	}
	return out
}

func accuracyOf(t *testing.T, head classifier.Head, s episodes.Episode) float64 {
	t.Helper()
	right := 0
	must.Do(t, episodes.Answers(head, s, func(_ int, a episodes.Answer) {
		if floats.MaxIdx(a.LogProb) == a.Own {
			right++
		}
	}))
	return float64(right) / float64(len(s.Y))
}
