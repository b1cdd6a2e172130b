package teach

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// A promise counts how often the truth was inside an interval, and how far from the middle.
type promise struct {
	n, inside   int
	said, truth float64
	width       float64
}

func (p *promise) add(said, low, high, truth float64) {
	p.n++
	if low <= truth && truth <= high {
		p.inside++
	}
	p.said, p.truth, p.width = p.said+said, p.truth+truth, p.width+high-low
}

func (p *promise) String() string {
	n := float64(max(1, p.n))
	return fmt.Sprintf("%d of %d | %.3f | %.3f | %.3f", p.inside, p.n, p.said/n, p.truth/n, p.width/n)
}

// What an account expects holds for real photos: in a folder like a clean archive, like an archive with 5 % wrong
// labels, and in one without labels of which a quarter shows what nobody has named, after 0, 10, 50 and 200 decisions.
// So does how many labels of the archive are wrong, while the most doubtful are corrected. PIPELINE_LONG makes
// more draws (docs/log/promises.md).
func TestAccountHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("teaches six models")
	}
	draws, sets := 1, []string{"caltech101", "textures"}
	if os.Getenv("PIPELINE_LONG") != "" {
		draws, sets = 5, append(sets, "aircraft", "sun397")
	}
	all, wrong := promise{}, promise{}
	for _, kind := range []string{"clean archive", "5 % wrong", "a quarter unnamed"} {
		right, slips := map[int]*promise{}, map[int]*promise{}
		for _, set := range sets {
			for seed := range uint64(draws) {
				seed += 100
				f := newFeatures(t, set, kind, seed)
				done := 0
				for _, decisions := range []int{0, 10, 50, 200} {
					if kind == "a quarter unnamed" {
						f.decide(t, decisions-done)
					} else {
						f.correct(t, decisions-done)
					}
					done = decisions
					if right[done] == nil {
						right[done], slips[done] = &promise{}, &promise{}
					}
					a := f.s.Status().Account
					if e := a.Expected; e != nil && e.Accuracy != nil {
						right[done].add(*e.Accuracy, *e.Low, *e.High, f.right())
						all.add(*e.Accuracy, *e.Low, *e.High, f.right())
						if truth := f.right(); truth < *e.Low || truth > *e.High {
							t.Logf("%s, %s, %d decisions: %.3f right of %d, expected %.3f, %.3f to %.3f", set, kind,
								done, truth, a.Model-a.Unknown, *e.Accuracy, *e.Low, *e.High)
						}
					}
					if w := a.Wrong; w != nil && w.Of >= account.FewLabels {
						slips[done].add(w.Expected, w.Low, w.High, float64(f.wrong()))
						wrong.add(w.Expected, w.Low, w.High, float64(f.wrong()))
					}
				}
			}
		}
		for _, n := range []int{0, 10, 50, 200} {
			t.Logf("| %s | %d | %s | %s |", kind, n, right[n], slips[n])
		}
	}
	t.Logf("expected right %s, labels wrong %s", &all, &wrong)
	if all.n < 20 || float64(all.inside) < 0.95*float64(all.n)-1 {
		t.Errorf("what is expected right is inside its interval in %d of %d cases", all.inside, all.n)
	}
	if wrong.n < 10 || float64(wrong.inside) < 0.95*float64(wrong.n)-1 {
		t.Errorf("how many labels are wrong is inside its interval in %d of %d cases", wrong.inside, wrong.n)
	}
}

// Features are a session with photos of a set whose truth is known.
type features struct {
	world
	s     *Session
	rng   *rand.Rand
	order []int // in which photos are decided
	named int   // of the classes that somebody names
}

// newFeatures opens a session of sixteen classes: an archive of five photos of each that the model learned, or none,
// with up to 33 others of each.
func newFeatures(t *testing.T, set, kind string, seed uint64) *features {
	t.Helper()
	e := must.Get(featdir.Read(shared.Path(t, "data", "clip_vitb32", set, "test")))(t)
	f := &features{world: world{truth: map[ID]string{}}, rng: rand.New(rand.NewPCG(seed, 22))}
	of := map[string][]int{}
	var classes []string
	for i, s := range e.Samples {
		if of[s.Label] == nil {
			classes = append(classes, s.Label)
		}
		of[s.Label] = append(of[s.Label], i)
	}
	f.rng.Shuffle(len(classes), func(i, j int) { classes[i], classes[j] = classes[j], classes[i] })
	classes = classes[:16]
	learned := []int{}
	for c, class := range classes {
		rows := of[class]
		f.rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for k, i := range rows[:min(len(rows), 38)] {
			if f.truth[ID(e.Content[i])] != "" {
				continue // the set has some photos twice
			}
			p := Photo{ID: ID(e.Content[i]), Path: fmt.Sprintf("%02d/%03d.jpg", c, k)}
			if kind != "a quarter unnamed" && k < 5 {
				learned, p.Class = append(learned, len(f.photos)), class
				if kind == "5 % wrong" && f.rng.IntN(20) == 0 {
					p.Class = classes[(c+1)%len(classes)]
				}
			}
			f.photos, f.vectors = append(f.photos, p), append(f.vectors, dense.Row32(e.X, i))
			f.truth[p.ID] = class
		}
	}
	named := map[string]bool{}
	for _, class := range classes[:12] {
		named[class] = true
	}
	for _, i := range f.rng.Perm(len(f.photos)) {
		if f.photos[i].Class == "" && named[f.truth[f.photos[i].ID]] {
			f.order = append(f.order, i)
		}
	}
	f.named = len(f.order)
	dir := t.TempDir()
	if len(learned) > 0 {
		f.trainMethodAt(t, dir, "plda", learned...)
	}
	f.s = f.openAt(t, dir, "plda")
	f.s.Wait()
	return f
}

// decide names n photos of the classes that somebody names.
func (f *features) decide(t *testing.T, n int) {
	n = min(n, len(f.order)-f.named*2/5) // some are left, so that what is left is not all unnamed
	if n <= 0 {
		return
	}
	f.name(t, f.s, f.order[:n]...)
	f.order = f.order[n:]
	f.s.Wait()
}

// correct confirms or corrects the n labels of the archive that are most in doubt.
func (f *features) correct(t *testing.T, n int) {
	if n == 0 {
		return
	}
	page := must.Get(f.s.List(Query{View: Suspicious, Limit: n}))(t)
	for _, it := range page.Items {
		do(t, f.s, Decision{Do: Label, Images: []ID{it.ID}, Class: f.truth[it.ID]})
	}
	f.s.Wait()
}

// right returns the share of the labels by the model that is right.
func (f *features) right() float64 {
	n, right := 0, 0
	for i, p := range f.photos {
		if _, by := f.s.label(i); by != "" || !f.s.live.scored(i) || f.s.live.unknown(i) {
			continue
		}
		n++
		if class, _ := f.s.live.predicted(i); class == f.truth[p.ID] {
			right++
		}
	}
	return float64(right) / float64(max(1, n))
}

// wrong counts the labels that are wrong.
func (f *features) wrong() (n int) {
	for i, p := range f.photos {
		if class, _ := f.s.label(i); class != "" && class != f.truth[p.ID] {
			n++
		}
	}
	return n
}
