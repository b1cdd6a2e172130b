package calibration

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// Of the examples that are new with probability p, a share p is of classes that were not
// learned, where half of all are and where a fifth is; both with few examples of a class
// and with many, which are held out in other ways.
func TestProbabilityOfBeingNew(t *testing.T) {
	for n, most := range map[int]float64{4: 0.05, 12: 0.05, 40: 0.08} { // of 40, two fifths of the classes are left out
		var off, flat float64
		const draws = 4
		for seed := range uint64(draws) {
			w := newWorld(seed, 24, 3)
			sessions := []episodes.Episode{w.session(0, 30, n)}
			head := taught(t, sessions...)
			task := Task{Sessions: sessions, Fresh: head.(classifier.Unfitter).Unfitted}
			_, found, err := Fit(context.Background(), task)
			if err != nil || found.Unseen == nil || found.Unseen.Slope <= 0 {
				t.Fatalf("%d examples: %+v, %v", n, found.Unseen, err)
			}
			for _, share := range []float64{0.5, 0.2} {
				known, unknown := asked(t, head, w.session(0, 30, 20)), asked(t, head, w.session(30, 60, 20))
				unknown = unknown[:int(float64(len(known))*share/(1-share))]
				e := calibrationError(*found.Unseen, known, unknown, share)
				off += e / draws / 2
			}
			flat += calibrationError(Unseen{}, asked(t, head, w.session(0, 30, 20)), nil, 0.5) / draws
		}
		if t.Logf("%d examples: off by %.3f", n, off); off > most || flat < 0.4 {
			t.Errorf("%d examples: probabilities of being new are off by %.3f; of no use, by %.3f", n, off, flat)
		}
	}
}

// A head that is asked lacks a tenth of the classes, or one if there are fewer, and with many
// classes a hundred are enough.
func TestPartsOfClasses(t *testing.T) {
	for _, c := range []struct {
		classes, heads, lacking, examples int
		slow                              bool
	}{
		{2, 0, 0, 0, false}, {4, 4, 1, 8, false}, {30, 10, 3, 60, false}, {200, 5, 20, 200, false},
		{30, 1, 6, 12, true},
	} {
		var mu sync.Mutex
		var heads []classifier.Learner
		task := Task{Sessions: []episodes.Episode{newWorld(1, 3, 1).session(0, c.classes, 2)}}
		task.Fresh = func() (classifier.Learner, error) {
			mu.Lock()
			defer mu.Unlock()
			head, err := fresh()
			heads = append(heads, head)
			return head, err
		}
		found, err := task.unseen(context.Background(), c.slow)
		if err != nil || len(heads) != c.heads || len(found) != c.examples {
			t.Errorf("%d classes: %d heads, %d examples, %v", c.classes, len(heads), len(found), err)
		}
		for _, head := range heads {
			if n := c.classes - len(head.Classes()); n != c.lacking {
				t.Errorf("%d classes: a head lacks %d", c.classes, n)
			}
		}
	}
}

func asked(t *testing.T, head classifier.Head, s episodes.Episode) []float64 {
	t.Helper()
	return must.Get(episodes.Novelties(head, s.X))(t)
}

// calibrationError is the mean difference, in ten bins, of probability and share.
func calibrationError(u Unseen, known, unknown []float64, share float64) float64 {
	type bin struct{ p, new float64 }
	bins := map[int]bin{}
	for kind, novelties := range [][]float64{known, unknown} {
		for _, v := range novelties {
			p := u.P(v, share)
			b := bins[int(10*p)]
			bins[int(10*p)] = bin{b.p + p, b.new + float64(kind)}
		}
	}
	var sum float64
	for _, b := range bins {
		sum += math.Abs(b.p - b.new)
	}
	return sum / float64(len(known)+len(unknown))
}

// The curve is that of logistic regression in which both kinds have half of the weight: at its
// minimum the gradient is nought.
func TestCurveIsLogisticRegression(t *testing.T) {
	known := standard([]sighting{{-3, 1}, {-1, 2}, {0, 1}, {2, 1}}, 0, 1)
	unseen := standard([]sighting{{-1, 1}, {1, 1}, {4, 3}}, 0, 1)
	const classes = 3
	loss := func(u Unseen) float64 {
		sum := ridge*u.Slope*u.Slope/2 + u.Bend*u.Bend/(2*classes)/2
		for _, s := range known {
			sum -= s.weight * math.Log1p(-u.P(s.novelty, 0.5))
		}
		for _, s := range unseen {
			sum -= s.weight * math.Log(u.P(s.novelty, 0.5))
		}
		return sum
	}
	u := curve(known, unseen, classes)
	if u.Bend == 0 || u.Middle == 0 {
		t.Fatalf("no bend: %+v", u)
	}
	const h = 1e-5
	for name, of := range map[string]*float64{"slope": &u.Slope, "offset": &u.Offset, "bend": &u.Bend} {
		at := *of
		*of = at + h
		more := loss(u)
		*of = at - h
		less := loss(u)
		if *of = at; math.Abs(more-less)/(2*h) > 1e-8 {
			t.Errorf("%+v: along %s the gradient is %v", u, name, (more-less)/(2*h))
		}
	}
}

// Where one part in twenty of what is known looks as new as what is not, the odds rise and then
// stay; a straight line is off on both sides. Of a few classes it is not believed at once.
func TestOddsBend(t *testing.T) {
	var known, unseen []float64
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 2000 {
		known, unseen = append(known, rng.NormFloat64()), append(unseen, 5+2*rng.NormFloat64())
		if i%20 == 0 {
			known[i] = unseen[i]
		}
	}
	many, few := fitUnseen(alike(known), alike(unseen), 100), fitUnseen(alike(known), alike(unseen), 5)
	w := logistic(standard(alike(known), 0, 1), standard(alike(unseen), 0, 1),
		[]term{{func(x float64) float64 { return x }, 0}, {func(float64) float64 { return 1 }, 0}})
	straight := Unseen{Slope: w[0], Offset: w[1]}
	bent, line := calibrationError(*many, known, unseen, 0.5), calibrationError(straight, known, unseen, 0.5)
	if bent > 0.035 || line < 1.5*bent {
		t.Errorf("%+v is off by %.3f, a straight line by %.3f", many, bent, line)
	}
	if !(many.Bend < few.Bend && few.Bend < 0) {
		t.Errorf("a hundred classes bend it by %v, five by %v", many.Bend, few.Bend)
	}
	last := 0.0
	for v := -1e4; v < 1e4; v += 0.7 {
		if p := many.P(v, 0.5); p >= last {
			last = p
		} else {
			t.Fatalf("%v is newer, but less probably new: %v", v, p)
		}
	}
}

// What is the other way round, or the same for all, says nothing of new classes; and too
// little to fit gives nothing.
func TestNoveltyThatTellsNothing(t *testing.T) {
	low, high := make([]float64, 30), make([]float64, 30)
	for i := range low {
		low[i], high[i] = float64(i), 100+float64(i)
	}
	if u := fitUnseen(alike(high), alike(low), 10); u == nil || u.P(50, 0.3) != 0.3 {
		t.Errorf("new examples are less novel than known ones: %+v", u)
	}
	if u := fitUnseen(alike(make([]float64, 30)), alike(make([]float64, 30)), 10); u == nil || u.P(0, 0.3) != 0.3 {
		t.Errorf("all are equally novel: %+v", u)
	}
	if u := fitUnseen(alike(low), alike(high), 10); u == nil || u.P(10, 0.5) > 0.05 || u.P(120, 0.5) < 0.95 {
		t.Errorf("apart: %+v", u)
	}
	if u := fitUnseen(alike(low), alike(high[:10]), 10); u != nil {
		t.Errorf("ten examples of new classes: %+v", u)
	}
	if u := (Unseen{Slope: 1}); u.P(-1e300, 0.5) != 0 || u.P(1e300, 0.5) != 1 {
		t.Error("far values are not certain")
	}
	for _, u := range []Unseen{{Slope: -1}, {Slope: math.NaN()}, {Slope: 1, Offset: math.Inf(1)},
		{Slope: 1, Bend: -2}, {Slope: 1, Middle: math.NaN()}} {
		if u.Check() == nil {
			t.Errorf("%+v passes", u)
		}
	}
}
