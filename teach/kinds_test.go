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
)

// firstScreen is the number of groups that a window of 1280 × 800 shows without scrolling.
const firstScreen = 4

// Two kinds come later, of which most photos are called by old names: more of them are in groups of the first screen
// than look unknown one by one, and few of the groups that are called another thing are none. PIPELINE_LONG makes
// more draws (docs/log/labelling.md).
func TestNewKinds(t *testing.T) {
	if testing.Short() {
		t.Skip("teaches models of real photos")
	}
	draws, sets, shots := uint64(1), []string{"textures"}, []int{16}
	if os.Getenv("PIPELINE_LONG") != "" {
		draws, sets, shots = 5, append(sets, "caltech101", "aircraft"), []int{8, 16}
	}
	all := later{}
	for _, set := range sets {
		sum := later{}
		for _, k := range shots {
			for seed := range draws {
				sum.add(laterKinds(t, set, k, 100+seed))
			}
		}
		t.Logf("| %s | %d | %.0f %% | %.0f %% | %d of %d |", set, sum.photos, 100*sum.share(sum.unknown),
			100*sum.share(sum.offered), sum.wrong, sum.groups)
		if set == "textures" && sum.offered < sum.unknown+sum.photos/10 {
			t.Errorf("%s: %d of %d photos are offered, %d look unknown by themselves", set, sum.offered, sum.photos,
				sum.unknown)
		}
		all.add(sum)
	}
	if 10*all.wrong > all.groups+10 {
		t.Errorf("%d of %d groups are no new kind", all.wrong, all.groups)
	}
}

// later counts photos of kinds that came later: those that look unknown one by one, and those in groups of the first
// screen; and the groups that are offered as another thing than they are called, with those that are wrong.
type later struct{ photos, unknown, offered, groups, wrong int }

func (l *later) add(m later) {
	l.photos, l.unknown, l.offered = l.photos+m.photos, l.unknown+m.unknown, l.offered+m.offered
	l.groups, l.wrong = l.groups+m.groups, l.wrong+m.wrong
}

func (l *later) share(n int) float64 { return float64(n) / float64(max(1, l.photos)) }

// laterKinds opens a session of fifteen classes, with k photos of each named, and of two more that nobody has named.
func laterKinds(t *testing.T, set string, k int, seed uint64) (sum later) {
	t.Helper()
	part := "test"
	e := must.Get(featdir.Read(shared.Path(t, "data", "clip_vitb32", set, part)))(t)
	w, of := world{truth: map[ID]string{}}, map[string][]int{}
	var classes []string
	for i, s := range e.Samples {
		if of[s.Label] = append(of[s.Label], i); len(of[s.Label]) == k+10 {
			classes = append(classes, s.Label)
		}
	}
	rng := rand.New(rand.NewPCG(seed, 71))
	rng.Shuffle(len(classes), func(i, j int) { classes[i], classes[j] = classes[j], classes[i] })
	const known = 15
	isLater, named := map[string]bool{}, []int{}
	for c, class := range classes[:min(len(classes), known+2)] {
		isLater[class] = c >= known
		for n, i := range of[class][:min(len(of[class]), 55)] {
			id := ID(e.Content[i])
			if w.truth[id] != "" {
				continue // the set has some photos twice
			}
			if c < known && n < k {
				named = append(named, len(w.photos))
			}
			w.photos = append(w.photos, Photo{ID: id, Path: fmt.Sprintf("%02d/%03d.jpg", c, n)})
			w.vectors, w.truth[id] = append(w.vectors, dense.Row32(e.X, i)), class
		}
	}
	s := w.openAt(t, t.TempDir(), "plda")
	w.name(t, s, named...)
	s.Wait()
	s.Groups(firstScreen, 1)
	s.Wait()
	for i, p := range w.photos {
		if isLater[w.truth[p.ID]] {
			if sum.photos++; s.live.unknown(i) {
				sum.unknown++
			}
		}
	}
	last := s.groups.last()
	for n, rows := range last.list[:min(firstScreen, len(last.list))] {
		right := 0
		for _, i := range rows {
			if isLater[w.truth[w.photos[i].ID]] {
				right++
			}
		}
		sum.offered += right
		if n < last.kinds {
			if sum.groups++; 2*right <= len(rows) {
				sum.wrong++
			}
		}
	}
	return sum
}
