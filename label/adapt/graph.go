package adapt

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/neighbours"
	"github.com/seed-90d10d51/pipeline/linalg"
)

const (
	// near is the number of neighbours of a photo, before the graph is made symmetric.
	near = 10
	// leastGraph is the smallest number of photos that lean on each other.
	leastGraph = 3
)

// An edge leads to another photo, whose belief counts with a weight.
type edge struct {
	to     int32
	weight float32
}

// A graph has the neighbours of each photo of a folder; their weights sum to 1, or there are none.
type graph [][]edge

// newGraph joins each row of x (n×d, of length 1) to those of the largest cosine, both ways, with the
// positive part of the cosine as the weight. Rows for which apart holds are not joined.
func newGraph(ctx context.Context, mul linalg.Backend, x blas32.General, apart func(i, j int) bool) (graph, error) {
	found, err := neighbours.Find(ctx, mul, x, near, 1, func(float64) {})
	if err != nil {
		return nil, err
	}
	g := make(graph, x.Rows)
	for i := range g {
		rows, squares := found.Of(i)
		for k, j := range rows {
			cosine := 1 - squares[k]/2
			if cosine <= 0 || apart(i, int(j)) {
				continue
			}
			g[i] = append(g[i], edge{j, cosine})
			if back, _ := found.Of(int(j)); !slices.Contains(back, int32(i)) {
				g[j] = append(g[j], edge{int32(i), cosine})
			}
		}
	}
	dense.Parallel(len(g), func(i int) {
		slices.SortFunc(g[i], func(a, b edge) int { return int(a.to) - int(b.to) })
		var sum float32
		for _, e := range g[i] {
			sum += e.weight
		}
		for k := range g[i] {
			g[i][k].weight /= sum
		}
	})
	return g, nil
}

// after returns the graph with the photos of another one before its own.
func (g graph) after(before graph) graph {
	if len(before) == 0 {
		return g
	}
	for _, edges := range g {
		for k := range edges {
			edges[k].to += int32(len(before))
		}
	}
	return append(before, g...)
}

// comparable returns rows of length 1 whose cosine says how probably two photos are of one class: of whitened
// rows z of the model's space z∘√(β/(1+2β)), since zᵢ·zⱼ weighed by β/(1+2β) is what one class is more probable
// than two, but for terms of one photo. It returns the backend of the space, too.
func (h *Head) comparable(ctx context.Context, kept *label.Kept, rows []int) (out blas32.General, mul linalg.Backend,
	err error) {
	for first := 0; first < len(rows); first += blockRows {
		last := min(first+blockRows, len(rows))
		x, err := kept.Embeddings(rows[first:last])
		if err != nil {
			return out, mul, err
		}
		space, white, err := h.Compare(ctx, x)
		if err != nil {
			return out, mul, err
		}
		coordinates, err := space.Coordinates(white)
		if err != nil {
			return out, mul, err
		}
		weights, _ := space.Evidence(2)
		if out.Data == nil {
			mul, out = space.Backend(), dense.New32(len(rows), counted(weights))
		}
		dense.Parallel(last-first, func(i int) { scale(dense.Row32(out, first+i), dense.Row(coordinates, i), weights) })
	}
	return out, mul, ctx.Err()
}

// counted returns how many coordinates have a weight: all, or the first.
func counted(weights []float64) int {
	for n := len(weights); n > 0; n-- {
		if weights[n-1] > 0 {
			return n
		}
	}
	return 0
}

// scale writes coordinates, each multiplied by the root of its weight, into dst, with length 1.
func scale(dst []float32, coordinates, weights []float64) {
	coordinates = coordinates[:len(dst)]
	for k := range coordinates {
		coordinates[k] *= math.Sqrt(weights[k])
	}
	length := floats.Norm(coordinates, 2)
	if length == 0 {
		return
	}
	for k, v := range coordinates {
		dst[k] = float32(v / length)
	}
}
