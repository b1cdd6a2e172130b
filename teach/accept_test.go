package teach

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed-90d10d51/pipeline/model/advice"
)

// strangers returns a session of many photos of three classes, of which some are
// named, and a few of two others, which nobody has named.
func strangers(t *testing.T, method string) *Session {
	t.Helper()
	all := newWorld(5, 200)
	w := world{truth: all.truth}
	for i, p := range all.photos {
		if i%5 < 3 || i%250 < 5 {
			w.photos, w.vectors = append(w.photos, p), append(w.vectors, all.vectors[i])
		}
	}
	s := w.openAt(t, t.TempDir(), method)
	for i, p := range w.photos[:110] {
		if class := w.truth[p.ID]; class != "class 3" && class != "class 4" {
			w.name(t, s, i)
			s.Wait() // whether a prediction was right depends on the fits before it
		}
	}
	return s
}

// open returns the photos without a label that are predicted with at least a probability,
// those that the model calls unknown apart.
func open(t *testing.T, s *Session, above float64) (known, unknown []Item) {
	t.Helper()
	page, err := s.List(Query{View: All, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range page.Items {
		switch {
		case it.Label != "" || it.Top[0].Probability < above:
		case it.Unknown:
			unknown = append(unknown, it)
		default:
			known = append(known, it)
		}
	}
	return known, unknown
}

// The count, the promise, the advice and the labels of accepting many are those of photos
// that the model takes for a known class, however sure it is of the others.
func TestUnknownPhotosAreNotAccepted(t *testing.T) {
	for _, method := range []string{"plda", "ncm"} {
		t.Run(method, func(t *testing.T) {
			s := strangers(t, method)
			known, unknown := open(t, s, advice.SureEnough)
			if len(known) == 0 || len(unknown) == 0 {
				t.Fatalf("%d known and %d unknown photos are surer than %v: nothing to tell apart", len(known),
					len(unknown), advice.SureEnough)
			}
			mean, ofFirst := 0.0, 0
			for _, it := range known {
				mean += it.Top[0].Probability / float64(len(known))
				if it.Top[0].Label == known[0].Top[0].Label {
					ofFirst++
				}
			}
			if a := s.Acceptable(advice.SureEnough, ""); a.Images != len(known) || math.Abs(a.Precision-mean) > 1e-4 {
				t.Errorf("%d photos are to be accepted, of which %.4f would be right; want %d and %.4f", a.Images,
					a.Precision, len(known), mean)
			}
			if a := s.Acceptable(advice.SureEnough, known[0].Top[0].Label); a.Images != ofFirst {
				t.Errorf("%d photos of %s are to be accepted, want %d", a.Images, known[0].Top[0].Label, ofFirst)
			}
			want := fmt.Sprintf("The last checked photos were predicted right: accept the %d photos above 95 %%.",
				len(known))
			if got := s.Status().Advice; got.Text != want {
				t.Errorf("the advice is %+v, want %q", got, want)
			}
			line, err := s.Accept(advice.SureEnough, "")
			if err != nil {
				t.Fatal(err)
			}
			if len(line.Images) != len(known) {
				t.Errorf("%d photos were accepted, want %d", len(line.Images), len(known))
			}
			for _, it := range unknown {
				if now, _ := s.Get(it.ID); now.Label != "" {
					t.Errorf("%s looks unknown and was accepted as %s", it.Path, now.Label)
				}
			}
		})
	}
}
