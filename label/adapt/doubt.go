package adapt

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// Ask is Fit for a person's next answers: each kept row has as its Doubt how many photos an answer about it
// would settle, if those with more are asked before it.
//
// With u = 1 − max p of a photo, 0 if a person decided about it, an answer about photo i settles
// uᵢ + 2·Σⱼ aⱼᵢ·uⱼ: its own doubt and, twice, that of the photos that lean on it. The photo with the most is
// asked, the doubt of it and of its neighbours is halved, and so on. Of photos of the same content all but the
// first have none. Cost: that of Fit, and O(n·log n).
func Ask(ctx context.Context, m *model.Model, by label.Scorer, rows embedding.Rows, dir string) (*Head, *label.Kept,
	error) {
	var g graph
	h, kept, f, err := fit(ctx, m, by, rows, dir, &g)
	if err != nil {
		return nil, nil, err
	}
	doubt, err := f.doubt(kept)
	if err != nil {
		kept.Close()
		return nil, nil, err
	}
	for i, photos := range g.mass(doubt) {
		kept.Doubt(f.rows[i], photos)
	}
	return h, kept, nil
}

// doubt returns how improbable the label of each different photo is, 0 where a person decided.
func (f folder) doubt(kept *label.Kept) ([]float64, error) {
	doubt := make([]float64, 0, len(f.rows))
	for first := 0; first < len(f.rows); first += blockRows {
		logProb, _, err := kept.Scores(f.rows[first:min(first+blockRows, len(f.rows))])
		if err != nil {
			return nil, err
		}
		for i := range logProb.Rows {
			doubt = append(doubt, 1-math.Exp(floats.Max(dense.Row(logProb, i))))
		}
	}
	for row, i := range f.of {
		if kept.Decided(row) {
			doubt[i] = 0
		}
	}
	return doubt, nil
}

// mass returns, for photos of some doubt each, what an answer about each would settle when its turn comes.
// Without a graph that is their own doubt.
func (g graph) mass(doubt []float64) []float64 {
	if g == nil {
		return doubt
	}
	settles := func(i int) float64 {
		sum := doubt[i]
		for _, e := range g[i] {
			sum += 2 * float64(g.weight(int(e.to), i)) * doubt[e.to]
		}
		return sum
	}
	queue := make(questions, len(g))
	for i := range g {
		queue[i] = question{i, settles(i)}
	}
	heap.Init(&queue)
	mass := make([]float64, len(g))
	for len(queue) > 0 {
		// Answers before it can only have settled photos, so that the first that still settles as many as it
		// is down for settles the most.
		if now := settles(queue[0].photo); now < queue[0].settles {
			queue[0].settles = now
			heap.Fix(&queue, 0)
			continue
		}
		asked := heap.Pop(&queue).(question)
		mass[asked.photo] = asked.settles
		doubt[asked.photo] /= 2
		for _, e := range g[asked.photo] {
			doubt[e.to] /= 2
		}
	}
	return mass
}

// weight returns how much photo i leans on photo j.
func (g graph) weight(i, j int) float32 {
	at, found := slices.BinarySearchFunc(g[i], int32(j), func(e edge, j int32) int { return cmp.Compare(e.to, j) })
	if !found {
		return 0
	}
	return g[i][at].weight
}

// A question is about a photo.
type question struct {
	photo   int
	settles float64
}

// questions are a heap, the one that settles most first, of equals the first photo.
type questions []question

func (q questions) Len() int { return len(q) }
func (q questions) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[j].settles, q[i].settles), cmp.Compare(q[i].photo, q[j].photo)) < 0
}
func (q questions) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *questions) Push(x any)   { *q = append(*q, x.(question)) }
func (q *questions) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
