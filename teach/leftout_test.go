package teach

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/internal/random"
)

// wide returns photos of more values than there are photos: their classes differ in a few, and the
// others are noise.
func wide(classes, each int, apart float64) world {
	w := newWorldOf(classes, each, 200)
	rng := random.Stream(2, "wide")
	for i, v := range w.vectors {
		for j := range v {
			v[j] = float32(rng.NormFloat64())
		}
		v[i%classes] += float32(apart)
	}
	return w
}

// TestLeftOutIsWhatIsTrue: a model of 60 photos in 200 dimensions is right about all that it has
// learned; of each left out it is right about as many as of photos that nobody has decided.
func TestLeftOutIsWhatIsTrue(t *testing.T) {
	const classes, decided, others = 6, 60, 240
	for _, apart := range []float64{0, 8} {
		w := wide(classes, (decided+others)/classes, apart)
		s := w.openAt(t, t.TempDir(), "plda")
		w.name(t, s, upTo(0, decided)...)
		s.fitNow()
		right := 0
		for _, p := range w.photos[decided:] {
			if it, _ := s.Get(p.ID); it.Top[0].Label == w.truth[p.ID] {
				right++
			}
		}
		found, n := 0, len(s.left.photos)
		for id, photo := range s.left.photos {
			if photo.first == w.truth[id] {
				found++
			}
		}
		low, high := calibration.Interval(found, n)
		if truth := float64(right) / others; n != decided || truth < low || truth > high {
			t.Errorf("apart by %g: %d of %d left-out photos right, of others %.3f", apart, found, n, truth)
		}
	}
}

// TestOwnSlips: six slips among 123 decisions are the first of those that look wrong, until the
// person has the last word.
func TestOwnSlips(t *testing.T) {
	const classes, decided, slips = 6, 123, 6
	w := wide(classes, 30, 14)
	s := w.openAt(t, t.TempDir(), "plda")
	wrong := map[ID]bool{}
	for i, p := range w.photos[:decided] {
		class := w.truth[p.ID]
		if i%20 == 7 && len(wrong) < slips {
			wrong[p.ID], class = true, w.truth[w.photos[i+1].ID]
		}
		do(t, s, Decision{Do: Label, Images: []ID{p.ID}, Class: class})
	}
	s.fitNow()
	found, suspicious := 0, list(t, s, Suspicious)
	suspicious = suspicious[:min(2*slips, len(suspicious))]
	for _, it := range suspicious {
		if wrong[it.ID] {
			found++
			if it.Rather != w.truth[it.ID] {
				t.Errorf("a slip is rather %q, not %s", it.Rather, w.truth[it.ID])
			}
		}
	}
	if found != slips {
		t.Fatalf("%d of %d slips among the first %d", found, slips, 2*slips)
	}
	first := suspicious[0]
	do(t, s, Decision{Do: Label, Images: []ID{first.ID}, Class: first.Label})
	if it, _ := s.Get(first.ID); it.Rather != "" {
		t.Errorf("a label that a person gave twice is rather %s", it.Rather)
	}
}

// fitNow fits the model to all decisions.
func (s *Session) fitNow() {
	s.Wait()
	s.mu.Lock()
	s.refit.n = 0
	s.refitIfDue()
	s.mu.Unlock()
	s.Wait()
}
