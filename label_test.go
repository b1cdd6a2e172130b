package pipeline

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// TestNotesAreNoSidecars: the summary does not call every skipped text file a sidecar.
func TestNotesAreNoSidecars(t *testing.T) {
	l := &Labelled{Summary: label.Summary{Skipped: map[string]int{"sidecar": 2, "raw": 1, "filtered": 3}}}
	l.summary(nil)
	if said := strings.Join(l.Lines(), "\n"); !strings.HasSuffix(said, "\nskipped: 1 raw, 2 text or sidecar") {
		t.Error(said)
	}
}

// An adaptable head can be adapted.
type adaptable interface {
	classifier.Learner
	classifier.Linear
	gauss.Adaptable
}

// A countedHead counts how often it was asked about an embedding, as do its clones.
type countedHead struct {
	adaptable
	all *[]map[[32]byte]int // of the head and its clones
	own map[[32]byte]int
}

func counted(head adaptable, all *[]map[[32]byte]int) countedHead {
	h := countedHead{head, all, map[[32]byte]int{}}
	*all = append(*all, h.own)
	return h
}

// Clone implements classifier.Cloner.
func (h countedHead) Clone() (classifier.Learner, error) {
	clone, err := h.adaptable.Clone()
	if err != nil {
		return nil, err
	}
	return counted(clone.(adaptable), h.all), nil
}

// Score implements classifier.Head.
func (h countedHead) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	for i := range x.Rows {
		h.own[embedding.HashRow(dense.Row32(x, i))]++
	}
	return h.adaptable.Score(dst, novelty, x)
}

// countedRows counts how often they are read, which embeds photos.
type countedRows struct {
	items []embedding.Item
	reads int
}

func (r *countedRows) Provenance() embedding.Provenance {
	return embedding.Provenance{Dim: len(r.items[0].Vector)}
}

// Each implements embedding.Rows.
func (r *countedRows) Each(_ context.Context, emit func(embedding.Item) error) (o embedding.Outcome, err error) {
	r.reads++
	for _, item := range r.items {
		if err := emit(item); err != nil {
			return o, err
		}
	}
	return o, nil
}

// photosOf draws embeddings of n photos of each of four classes.
func photosOf(seed uint64, n int) (items []embedding.Item) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range 4 * n {
		x := make([]float32, 8)
		for j := range x {
			x[j] = float32(0.3 * rng.NormFloat64())
		}
		x[i%4]++
		sample := dataset.Sample{Path: fmt.Sprintf("%d.jpg", i), Label: []string{"bat", "cat", "dog", "owl"}[i%4]}
		items = append(items, embedding.Item{Sample: sample, Vector: x, Hash: embedding.HashRow(x)})
	}
	return items
}

// TestEachPhotoIsScoredOnce: where all photos have to be seen before the first is labelled, they are
// read once and every head is asked once about each: the trained one, and those on the way to the
// adapted one.
func TestEachPhotoIsScoredOnce(t *testing.T) {
	s := must.Get(Open(t.Context(), WithCache(t.TempDir())))(t)
	shown := must.Get(embedding.Collect(t.Context(), &countedRows{items: photosOf(1, 1)}))(t)
	trained, _ := must.Get2(model.Train(t.Context(), model.Settings{Method: "plda"}, model.NewBatch(shown)))(t)
	file := filepath.Join(t.TempDir(), "a.model")
	must.Do(t, trained.Save(file))
	const batches = 2 // that are full, since a shorter one repeats a row
	photos := photosOf(2, batches*64/4)
	listing := dataset.Listing{Root: t.TempDir()}
	for _, item := range photos {
		listing.Samples = append(listing.Samples, item.Sample)
	}
	for _, c := range []struct {
		name   string
		change func(*LabelRequest)
		heads  int
	}{
		{"plain", func(q *LabelRequest) { q.Settings.Adapt = false }, 1},
		{"events", func(q *LabelRequest) { q.Settings.Adapt, q.Settings.Events = false, 60 }, 1},
		{"split", func(q *LabelRequest) { q.Settings.Adapt, q.Settings.Split = false, "80,20" }, 1},
		{"adapt", func(*LabelRequest) {}, 4}, // one per step
		{"together", func(q *LabelRequest) {
			q.Settings.Events, q.Settings.Split = 60, "80,20"
		}, 4},
	} {
		q := NewLabelRequest(file, Source{Images: listing.Root}, t.TempDir())
		c.change(&q)
		m := must.Get(model.Load(file))(t)
		var asked []map[[32]byte]int
		m.Predictor.Head = counted(m.Predictor.Head.(adaptable), &asked)
		rows := &countedRows{items: photos}
		in := input{Rows: rows, Closer: io.NopCloser(nil), root: listing.Root, images: listing.Source()}
		work := &labelling{run: s.begin(t.Context()), LabelRequest: q, model: m, in: in, dir: q.Out}
		job := must.Get(work.job(t.Context()))(t)
		summary, err := job.Run(t.Context())
		work.kept.Close()
		if err != nil || summary.Labelled != len(photos) {
			t.Fatalf("%s: %d labelled, %v", c.name, summary.Labelled, err)
		}
		if rows.reads != 1 || len(asked) != c.heads {
			t.Errorf("%s: read %d times, %d heads, want %d", c.name, rows.reads, len(asked), c.heads)
		}
		for i, times := range asked {
			if len(times) != len(photos) {
				t.Errorf("%s: head %d was asked about %d of %d photos", c.name, i, len(times), len(photos))
			}
			for _, n := range times {
				if n != 1 {
					t.Errorf("%s: head %d was asked %d times about a photo", c.name, i, n)
				}
			}
		}
	}
}
