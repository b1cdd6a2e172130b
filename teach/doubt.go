package teach

import (
	"container/heap"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/neighbours"
)

// askedTogether is how many questions are chosen with regard to those before them; the others follow by what each
// would settle alone.
const askedTogether = 200

// A likeness has for each photo those most like it, both ways, with weights. Cost: 8 bytes for each
// neighbour.
type likeness struct {
	n     int     // photos of the album that it knows
	start []int32 // of photo i, in to and weight, start[i] to start[i+1]
	to    []int32
	// weight is how much the other leans on photo i: all on which one leans have 1 together.
	weight []float32
}

// newLikeness joins rows of an album of n photos to their neighbours in a graph of them.
func newLikeness(n int, graph neighbours.Graph, rows []int) likeness {
	type edge struct {
		to     int32
		weight float32
	}
	edges := make([][]edge, n)
	for k, i := range rows {
		near, squares := graph.Of(k)
		for at, other := range near {
			j, w := rows[other], max(0, 1-squares[at]/2)
			edges[i] = append(edges[i], edge{int32(j), w})
			if back, _ := graph.Of(int(other)); !slices.Contains(back, int32(k)) {
				edges[j] = append(edges[j], edge{int32(i), w})
			}
		}
	}
	l, sums := likeness{n: n, start: make([]int32, n+1)}, make([]float32, n)
	for i, its := range edges {
		for _, e := range its {
			sums[i] += e.weight
		}
	}
	for i, its := range edges {
		for _, e := range its {
			l.to, l.weight = append(l.to, e.to), append(l.weight, e.weight/max(sums[e.to], 1e-9))
		}
		l.start[i+1] = int32(len(l.to))
	}
	return l
}

// asksByDoubt reports whether what to check is asked by what an answer would settle: once as many photos have an answer
// as there are classes. Before, the least certain photos are asked about.
func (g *gallery) asksByDoubt() bool {
	if g.live == nil || len(g.live.scores.classes) == 0 {
		return false
	}
	answers := 0
	for _, m := range g.state.marks {
		if m.by == label.Person {
			answers++
		}
	}
	return answers >= len(g.live.scores.classes)
}

// settling returns how many photos an answer about each photo would settle when its turn comes: its own doubt
// 1 − max p and, twice, that of the photos that lean on it, which an answer halves (package adapt has the same of a
// folder). It is nil while too few photos have an answer, or nothing is known of which are alike. Cost: O(n·k).
func (g *gallery) settling() []float32 {
	if g.alikes.n == 0 || !g.asksByDoubt() {
		return nil
	}
	doubt := make([]float32, len(g.photos))
	for i := range g.listed() {
		if class, by := g.label(i); class == "" && !by.Aside() && g.live.scored(i) {
			doubt[i] = 1 - g.live.scores.photos[i].prob
		}
	}
	return g.alikes.settling(doubt, askedTogether)
}

func (l *likeness) settling(doubt []float32, together int) []float32 {
	now := func(i int) float32 {
		sum := doubt[i]
		if i < l.n {
			for at := l.start[i]; at < l.start[i+1]; at++ {
				sum += 2 * l.weight[at] * doubt[l.to[at]]
			}
		}
		return sum
	}
	all := func(out []float32) {
		const some = 1024
		dense.Parallel((len(out)+some-1)/some, func(part int) {
			for i := part * some; i < min(len(out), (part+1)*some); i++ {
				out[i] = now(i)
			}
		})
	}
	out := make([]float32, len(doubt))
	all(out)
	q := &questions{out, dense.Range(0, len(out))}
	heap.Init(q)
	first := map[int]float32{}
	for len(first) < together && len(q.rows) > 0 {
		i := q.rows[0]
		if value := now(i); value < out[i] {
			out[i] = value
			heap.Fix(q, 0)
			continue
		}
		first[i] = out[i]
		heap.Pop(q)
		doubt[i] /= 2
		if i < l.n {
			for at := l.start[i]; at < l.start[i+1]; at++ {
				doubt[l.to[at]] /= 2
			}
		}
	}
	all(out)
	for i, value := range first {
		out[i] = value
	}
	return out
}

// questions are a heap of photos, the one that settles most first, of equals the first.
type questions struct {
	settles []float32
	rows    []int
}

func (q *questions) Len() int { return len(q.rows) }
func (q *questions) Less(a, b int) bool {
	i, j := q.rows[a], q.rows[b]
	return q.settles[i] > q.settles[j] || q.settles[i] == q.settles[j] && i < j
}
func (q *questions) Swap(a, b int) { q.rows[a], q.rows[b] = q.rows[b], q.rows[a] }
func (q *questions) Push(row any)  { q.rows = append(q.rows, row.(int)) }
func (q *questions) Pop() any {
	last := q.rows[len(q.rows)-1]
	q.rows = q.rows[:len(q.rows)-1]
	return last
}
