package teach

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model"
)

// However many corrections, undos and renames came since the last fit, a model learns and unlearns each
// photo once to follow them, and is that of a session that followed one by one.
func TestCatchUpLearnsOnce(t *testing.T) {
	w, dir := newWorld(3, 8), t.TempDir()
	s := w.openAt(t, dir, "plda")
	w.name(t, s, upTo(0, 12)...)
	s.Wait()
	fitted := s.refit.seq
	for round := range 8 {
		for i := range 12 {
			do(t, s, Decision{Do: Label, Images: w.ids(i), Class: fmt.Sprint("class ", (i+round)%3)})
		}
		do(t, s, Decision{Do: Rename, Class: "class 1", To: "one"})
		for range 2 {
			must.Get(s.Undo())(t)
		}
	}
	do(t, s, Decision{Do: Rename, Class: "class 2", To: "two"})
	s.Wait()
	if s.refit.seq != fitted {
		t.Fatalf("a fit at line %d", s.refit.seq)
	}
	asked := 0
	st := fold(s.state.lines[:fitted], s.base.origin)
	m := must.Get(s.base.fit(t.Context(), st, st.examples(), s.row))(t)
	l := must.Get(newLive(m, st.examples(), t.TempDir()))(t)
	defer l.close()
	must.Do(t, l.extend(t.Context(), s.x, len(s.photos)))
	l.catchUp(t.Context(), s.x, st, s.state.lines[fitted:], func(id ID) []float32 { asked++; return s.row(id) })
	if most := 2 * len(l.have); asked == 0 || asked > most {
		t.Errorf("%d embeddings were learned and unlearned, at most %d are needed", asked, most)
	}
	want := s.everyPrediction(s.live)
	if got := s.everyPrediction(l); got != want {
		t.Errorf("it predicts %s, want %s", got, want)
	}
}

// A photo that is found while a model has lost its second class, and the next fit has not begun, has no
// scores yet.
func TestPhotoWhileStale(t *testing.T) {
	w := newWorld(2, 4)
	s := w.openAt(t, t.TempDir(), "plda")
	w.name(t, s, 0, 1)
	s.Wait()
	want := s.state.examples()
	m := must.Get(s.base.fit(t.Context(), s.state, want, s.row))(t)
	l := must.Get(newLive(m, want, t.TempDir()))(t)
	defer l.close()
	must.Do(t, l.extend(t.Context(), s.x, 4))
	one := slices.DeleteFunc(slices.Clone(want), func(x model.SampleID) bool { return x.Class == want[0].Class })
	l.rescore(t.Context(), s.x, l.follow(one, s.row))
	must.Do(t, l.extend(t.Context(), s.x, len(s.photos)))
	if !l.stale || l.scored(4) {
		t.Errorf("stale is %t, photo 4 is scored: %t", l.stale, l.scored(4))
	}
}

// everyPrediction returns what a model predicts of the photos, as text.
func (s *Session) everyPrediction(l *live) (out string) {
	for i := range s.photos {
		class, p := l.predicted(i)
		out += fmt.Sprintf("%s %.3f, ", class, p)
	}
	return out
}

// A list that corrects every photo at once leaves the model what its classes share: the scores are those
// of the same features.
func TestEverythingCorrectedAtOnce(t *testing.T) {
	for name, classes := range map[string][]string{
		"other classes": {"x", "y", "z"}, "fewer classes": {"x", "y"}, "more": {"x", "y", "z", "u", "v"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(3, 8)
			s := w.openAt(t, t.TempDir(), "plda")
			w.name(t, s, upTo(0, 12)...)
			s.Wait()
			b := w.batch("", upTo(0, 12)...)
			for i := range b.Labels {
				b.Labels[i] = classes[i%len(classes)]
			}
			must.Get(s.Import(b, nil, Lists))(t)
			s.Wait()
			w.agrees(t, s)
			hasSaved(t, s, "corrected")
		})
	}
}
