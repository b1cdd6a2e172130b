package teach

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
	"github.com/seed-90d10d51/pipeline/label/neighbours"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// BenchmarkSettling is what the order of 100 000 photos takes after a decision besides sorting them.
func BenchmarkSettling(b *testing.B) {
	const n, d = 100_000, 16
	rng := random.Stream(1, "settling")
	x, doubt := dense.New32(n, d), make([]float32, n)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64()) / 4
	}
	for i := range doubt {
		doubt[i] = rng.Float32()
	}
	graph := must.Get(neighbours.Find(b.Context(), linalg.Backend{}, x, likest, 0, func(float64) {}))(b)
	l := newLikeness(n, graph, dense.Range(0, n))
	b.ResetTimer()
	before := cpu(b)
	for b.Loop() {
		l.settling(slices.Clone(doubt), askedTogether)
	}
	b.ReportMetric((cpu(b)-before).Seconds()/float64(b.N), "s-of-CPU/order")
}

// TestAnswersSettle prints how many photos are right after answers in the order of To check, by what an answer
// settles and by the margin. It needs PIPELINE_LONG and takes minutes.
func TestAnswersSettle(t *testing.T) {
	if os.Getenv("PIPELINE_LONG") == "" {
		t.Skip("set PIPELINE_LONG")
	}
	for _, set := range []string{"caltech101", "textures"} {
		f := must.Get(featdir.Read(shared.Path(t, "data", "clip_vitb32", set, "test")))(t)
		x := blas32.General{Rows: len(f.Samples), Cols: f.X.Cols, Stride: f.X.Stride, Data: f.X.Data}
		for seed := range uint64(2) {
			for _, byDoubt := range []bool{false, true} {
				t.Log(set, seed, "by doubt:", byDoubt, answered(t, x, f, seed, byDoubt))
			}
		}
	}
}

func answered(t *testing.T, x blas32.General, f embedding.Embeddings, seed uint64, byDoubt bool) (right string) {
	w := world{truth: map[ID]string{}}
	classes := map[string]bool{}
	for _, i := range random.Stream(seed, "answers").Perm(x.Rows)[:min(x.Rows, 1500)] {
		id := ID{byte(i), byte(i >> 8), 9}
		w.photos = append(w.photos, Photo{ID: id, Path: strconv.Itoa(i) + ".jpg"})
		w.vectors = append(w.vectors, dense.Row32(x, i))
		w.truth[id] = f.Samples[i].Label
		classes[f.Samples[i].Label] = true
	}
	dir := t.TempDir()
	s := w.openAt(t, filepath.Clean(dir), "plda")
	seen := map[string]bool{}
	for _, p := range w.photos { // one of each class
		if class := w.truth[p.ID]; !seen[class] {
			seen[class] = true
			do(t, s, Decision{Do: Label, Images: []ID{p.ID}, Class: class})
		}
	}
	s.Wait()
	if byDoubt {
		must.Get(s.Duplicates(Query{Limit: 1}, 1))(t)
		s.Wait()
	}
	for k := range 3 * len(classes) {
		if k%len(classes) == 0 {
			right += fmt.Sprintf(" %.1f", 100*w.accuracy(t, s))
		}
		if !byDoubt {
			s.alikes = likeness{}
		}
		page := must.Get(s.List(Query{View: Check, Limit: 1}))(t)
		if len(page.Items) == 0 {
			page = must.Get(s.List(Query{View: Novel, Limit: 1}))(t)
		}
		id := page.Items[0].ID
		do(t, s, Decision{Do: Label, Images: []ID{id}, Class: w.truth[id]})
		if !byDoubt {
			s.mu.Lock()
			s.arranging.running = true // no graph
			s.mu.Unlock()
		}
	}
	s.Wait()
	return right + fmt.Sprintf(" %.1f", 100*w.accuracy(t, s))
}
