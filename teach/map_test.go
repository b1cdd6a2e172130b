package teach

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// mapped returns the map once it has been computed.
func mapped(t testing.TB, s *Session) Map {
	t.Helper()
	must.Get(s.Map(Query{}))(t)
	s.Wait()
	m, err := s.Map(Query{})
	if err != nil || m.Computing {
		t.Fatal(m.Computing, err)
	}
	return m
}

// Without the arrangement the places are the principal components of the embeddings at length 1, as gonum computes
// them, whatever the order in which the photos were found.
func TestMapIsPrincipalComponents(t *testing.T) {
	w := newWorld(5, 30)
	stopped := func(w world) *Session {
		s := w.openAt(t, t.TempDir(), "plda")
		s.Arrange(false)
		return s
	}
	m := mapped(t, stopped(w))
	n := len(w.photos)
	x := mat.NewDense(n, dim, nil)
	for i, v := range w.vectors {
		norm := 0.0
		for _, e := range v {
			norm += float64(e) * float64(e)
		}
		for j, e := range v {
			x.Set(i, j, float64(e)/math.Sqrt(norm))
		}
	}
	var pc stat.PC
	if !pc.PrincipalComponents(x, nil) {
		t.Fatal("no components")
	}
	var vectors, places mat.Dense
	pc.VectorsTo(&vectors)
	places.Mul(x, vectors.Slice(0, dim, 0, 2))
	side := 0.0
	for k := range 2 {
		column := mat.Col(nil, k, &places)
		side = max(side, slices.Max(column)-slices.Min(column))
	}
	for k, got := range [][]int{m.X, m.Y} {
		column := mat.Col(nil, k, &places)
		low, high := slices.Min(column), slices.Max(column)
		same, turned := 0.0, 0.0 // the sign of an axis means nothing
		for i, v := range column {
			same = max(same, math.Abs(float64(got[i])-mapSide*(v-low)/side))
			turned = max(turned, math.Abs(float64(got[i])-mapSide*(high-v)/side))
		}
		if min(same, turned) > 1 {
			t.Errorf("axis %d is %.1f or %.1f off", k, same, turned)
		}
	}

	other := newWorld(5, 30)
	slices.Reverse(other.photos)
	slices.Reverse(other.vectors)
	back := mapped(t, stopped(other))
	slices.Reverse(back.X)
	slices.Reverse(back.Y)
	if !slices.Equal(m.X, back.X) || !slices.Equal(m.Y, back.Y) || m.IDs[0] != back.IDs[n-1] {
		t.Error("another order of the photos gives another map")
	}
}

// A map needs neither two photos nor embeddings that differ.
func TestMapOfLittle(t *testing.T) {
	w := newWorld(3, 10)
	for name, n := range map[string]int{"none": 0, "one": 1, "equal": 20} {
		few := world{w.photos[:n], nil, w.truth}
		for range n {
			few.vectors = append(few.vectors, w.vectors[0])
		}
		s, err := Open(Options{Model: t.TempDir() + "/m.model", Fresh: fresh(t, "plda"), Dim: dim, Temp: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		must.Do(t, s.Add(few.photos, few.vectors))
		m := mapped(t, s)
		if len(m.IDs) != n || slices.ContainsFunc(slices.Concat(m.X, m.Y), func(v int) bool { return v != 0 }) {
			t.Errorf("%s: %d photos at %v, %v", name, len(m.IDs), m.X, m.Y)
		}
	}
}

// What is said of a photo is what it is elsewhere said to be, and follows decisions, queries
// and files that are gone, without another layout; further photos make one.
func TestMapSaysWhatIsKnown(t *testing.T) {
	w := newWorld(3, 40)
	s := w.openAt(t, t.TempDir(), "plda")
	before := mapped(t, s)
	if slices.ContainsFunc(before.Spots, func(p Spot) bool { return p.Class >= 0 || !math.IsNaN(p.Probability) }) {
		t.Error("there are classes before the first decision")
	}
	w.name(t, s, upTo(0, 30)...)
	do(t, s, Decision{Do: Ignore, Images: []ID{w.photos[31].ID}})
	s.Wait()
	s.Remove([]string{w.photos[32].Path})
	m, err := s.Map(Query{Folder: "cam0"})
	if err != nil || m.Version != before.Version || m.Computing {
		t.Fatal(m.Version, m.Computing, err)
	}
	for i, p := range m.Spots {
		if i == 32 {
			if !p.Hidden {
				t.Error("a removed photo is not hidden")
			}
			continue
		}
		it, _ := s.Get(m.IDs[i])
		want := it.Label
		if want == "" && !it.By.Aside() {
			want = it.Top[0].Label
		}
		if got := append(m.Classes, "")[max(p.Class, -p.Class*len(m.Classes))]; got != want || p.By != it.By ||
			p.Unknown != (it.Unknown && it.By == "") {
			t.Errorf("photo %d: %q %+v, want %q %+v", i, got, p, want, it)
		}
		if it.By == "" && math.Abs(p.Probability-it.Top[0].Probability) > 1e-6 {
			t.Errorf("photo %d: probability %g, want %g", i, p.Probability, it.Top[0].Probability)
		}
		if p.Hidden != (folderOf(it.Path) != "cam0") {
			t.Errorf("photo %d of %s: hidden is %t", i, it.Path, p.Hidden)
		}
	}
	more := newWorld(3, 45)
	must.Do(t, s.Add(more.photos[120:], more.vectors[120:]))
	if m := mapped(t, s); m.Version == before.Version || len(m.IDs) != 134 {
		t.Errorf("version %d, %d photos", m.Version, len(m.IDs))
	}
}

// While a folder is being read the map is computed some times, not at each look.
func TestMapWhileReading(t *testing.T) {
	var l layout
	times := 0
	for n := 1; n <= 100_000; n++ {
		if l.due(n, true) {
			l.n = n
			times++
		}
	}
	if times > 60 || l.n < 80_000 || !l.due(l.n+1, false) || l.due(l.n, false) {
		t.Errorf("computed %d times, at last of %d photos", times, l.n)
	}
}

func BenchmarkMap(b *testing.B) {
	const n, d = 100_000, 512
	w := newWorldOf(10, n/10, d)
	s := w.openAt(b, b.TempDir(), "plda")
	for b.Loop() {
		for _, stopped := range []bool{true, false} {
			s.Arrange(!stopped)
			s.layout, s.duplicates = layout{}, copying{}
			begun := time.Now()
			mapped(b, s)
			b.ReportMetric(time.Since(begun).Seconds(), fmt.Sprintf("s/stopped=%t", stopped))
		}
	}
}
