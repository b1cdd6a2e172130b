package labelnoise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// draw returns labels of which a share is wrong, and what a calibrated model says whose
// temperature is then raised by a factor.
func draw(rng *rand.Rand, n, classes int, share, hot float64) (l Labels, wrongs int, found func(Noise) float64) {
	var is []bool
	for range n {
		logit := make([]float64, classes)
		for c := range logit {
			logit[c] = 3 * rng.NormFloat64()
		}
		classifier.LogSoftmax(logit)
		at, given := rng.Float64(), 0
		for at -= math.Exp(logit[0]); at > 0 && given < classes-1; at -= math.Exp(logit[given]) {
			given++
		}
		bad := rng.Float64() < share
		if bad {
			given = (given + 1 + rng.IntN(classes-1)) % classes
			wrongs++
		}
		for c := range logit {
			logit[c] /= hot
		}
		classifier.LogSoftmax(logit)
		l.Add(logit, given)
		is = append(is, bad)
	}
	return l, wrongs, func(n Noise) (sum float64) {
		for i, bad := range is {
			if bad {
				sum += l.Wrong(n, i)
			}
		}
		return sum
	}
}

// The number of wrong labels is found, with a model that is right in two of three cases,
// at its own temperature and at one that is too high; and none where all are right.
func TestShareOfWrongLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, hot := range []float64{1, 1.8} {
		for _, share := range []float64{0, 0.02, 0.05, 0.1, 0.3} {
			const n = 3000
			l, wrongs, _ := draw(rng, n, 20, share, hot)
			got := l.Fit()
			claimed := got.Share * n
			if share == 0 && claimed > 0.01*n || share > 0 &&
				(claimed < float64(wrongs)/1.5 || claimed > 1.5*float64(wrongs)) {
				t.Errorf("temperature %v: %.0f labels are claimed to be wrong, %d are", hot, claimed, wrongs)
			}
			sum := 0.0
			for i := range l.Len() {
				sum += l.Wrong(got, i)
			}
			// Equal at the maximum of the likelihood; the shares of the grid are 7 % apart.
			if math.Abs(sum-claimed) > 0.05*claimed+0.01 {
				t.Errorf("the probabilities of being wrong sum to %.2f, not %.2f", sum, claimed)
			}
		}
	}
}

// The interval holds the number of wrong labels in 95 of 100 draws of few photos, of which the
// model names six in ten right, and is as wide as that asks for.
func TestIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const draws, n = 200, 200
	inside, width := 0, 0.0
	for i := range draws {
		// The shares are drawn as they are a priori.
		l, wrongs, _ := draw(rng, n, 20, min(expected*rng.ExpFloat64(), 0.5), []float64{1, 1.4}[i%2])
		found := l.Fit()
		if float64(wrongs) > n*found.Low-1 && float64(wrongs) < n*found.High+1 {
			inside++
		}
		width += n * (found.High - found.Low) / draws
	}
	if inside < draws*93/100 || width > 20 {
		t.Errorf("%d of %d intervals hold the number of wrong labels; their mean width is %.1f", inside, draws, width)
	}
}

// Of n labels that the model holds for certain the share is exponentially distributed with
// the rate n + 1/expected, while it is small.
func TestPosteriorOfCertainLabels(t *testing.T) {
	const n = 2000
	var l Labels
	for range n {
		l.Add([]float64{0, math.Inf(-1), math.Inf(-1)}, 0)
	}
	got, rate := l.Fit(), n+1/expected
	for _, q := range []struct{ got, part float64 }{{got.Low, 0.025}, {got.High, 0.975}} {
		if want := -math.Log(1-q.part) / rate; math.Abs(q.got/want-1) > 0.02 {
			t.Errorf("quantile %v: %.6f, not %.6f", q.part, q.got, want)
		}
	}
}

// Those that are wrong are more probably so, in the fit as outside of it.
func TestWrong(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	l, wrongs, found := draw(rng, 2000, 10, 0.1, 1)
	n := l.Fit()
	if mean := found(n) / float64(wrongs); mean < 3*n.Share {
		t.Errorf("wrong labels have a mean probability of being wrong of %.3f, all of %.3f", mean, n.Share)
	}
	logProb := []float64{math.Log(0.7), math.Log(0.2), math.Log(0.1)}
	var one Labels
	one.Add(logProb, 1)
	if a, b := one.Wrong(n, 0), n.Wrong(logProb, 1); math.Abs(a-b) > 1e-6 {
		t.Errorf("%v in a fit, %v outside", a, b)
	}
	if n.Wrong(logProb, 0) >= n.Wrong(logProb, 1) || n.Wrong(logProb, 1) >= n.Wrong(logProb, 2) {
		t.Error("what is less probable is not more probably wrong")
	}
}

// Nothing is claimed of nothing, of one class, or of a class that the model does not know.
func TestDegenerate(t *testing.T) {
	var l Labels
	if n := l.Fit(); n.Share != 0 || n.Wrong([]float64{0}, 0) != 0 {
		t.Errorf("%+v of nothing", n)
	}
	l.Add([]float64{0}, 0)
	if n := l.Fit(); n.Share != 0 || l.Wrong(n, 0) != 0 {
		t.Errorf("%+v of one class", n)
	}
	var unknown Labels
	for i := range 310 {
		unknown.Add([]float64{0, math.Inf(-1)}, i/300)
	}
	if n := unknown.Fit(); math.IsNaN(n.Share) || math.Abs(n.Share*310-10) > 2 || !(unknown.Wrong(n, 309) > 0.9) {
		t.Errorf("%+v, the impossible label is wrong with %v", n, unknown.Wrong(n, 309))
	}
}
