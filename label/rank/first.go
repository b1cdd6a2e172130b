package rank

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/kit/kmeans"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/linalg"
)

const (
	// firstRuns is the number of runs of k-means, of which the one with the least
	// spread within clusters counts, and firstCandidates that of rows drawn for each
	// seed: without either, a large group often gets two clusters, and two small
	// groups one.
	firstRuns, firstCandidates = 10, 6
	// firstRounds bounds Lloyd's rounds of a run.
	firstRounds = 30
	// neighbours is the number of nearest images that typicality is measured by, as
	// in the paper.
	neighbours = 20
)

// A Selection is what Config.First chooses.
type Selection struct {
	// Entries have no Label; their Score is the number of different images in the
	// cluster that they stand for. The largest cluster comes first.
	Entries []Entry
	// Images is the number of all images, Compared that of those in the sample,
	// Different that of those that are no near-duplicate of another.
	Images, Compared, Different int
	Outcome                     embedding.Outcome
}

// First chooses n images to be labelled first, which needs no model: the most
// typical image of each of n clusters. If fewer than n images differ, it
// chooses all that do. The choice depends on seed and on the content of the images,
// not on their order. Of more than ClusterImages images it compares a random sample
// of m, in O(m²d + n·m·d) time; n must not exceed ClusterImages. It stops with an
// error when ctx is cancelled.
func (c Config) First(ctx context.Context, rows embedding.Rows, n int, seed uint64) (Selection, error) {
	c = setting.OrDefault(c, DefaultConfig())
	if n < 1 || n > c.ClusterImages {
		return Selection{}, fmt.Errorf("choose first images: %d is not from 1 to %d (cluster_images)",
			n, c.ClusterImages)
	}
	var s Selection
	var images []embedded
	var err error
	s.Outcome, err = rows.Each(ctx, func(item embedding.Item) error {
		if item.Err != nil {
			return nil // Outcome.Problems has it
		}
		s.Images++
		images = append(images,
			embedded{item.Sample.Path, dataset.EscapePath(item.Sample.Label), item.Sample.Box, item.Hash, item.Vector})
		if len(images) >= 2*c.ClusterImages {
			images = drawn(images, c.ClusterImages)
		}
		return nil
	})
	images = drawn(images, c.ClusterImages)
	if s.Compared = len(images); err != nil || s.Compared == 0 {
		return s, err
	}
	x := matrix(images)
	_, different, err := Duplicates(ctx, x)
	if err != nil {
		return s, err
	}
	s.Different = len(different)
	chosen, err := typical(ctx, dense.Gather32(x, different), min(n, s.Different), firstRuns, seed)
	if err != nil {
		return s, fmt.Errorf("choose first images: %w", err)
	}
	for _, t := range chosen {
		image := images[different[t.row]]
		s.Entries = append(s.Entries,
			Entry{Path: image.path, Box: image.box, Given: image.given, Score: float64(t.size)})
	}
	sortEntries(s.Entries)
	return s, nil
}

// A representative is a row that stands for a cluster of rows.
type representative struct{ row, size int }

// typical returns one row for each of n clusters of the rows of x, by direction, the best of
// some runs of k-means; n is at most the number of rows. It scales the rows to length 1.
func typical(ctx context.Context, x blas32.General, n, runs int, seed uint64) ([]representative, error) {
	for i := range x.Rows {
		v := vector(x, i)
		if norm := blas32.Nrm2(v); norm > 0 {
			blas32.Scal(1/norm, v)
		}
	}
	groups, err := tightest(ctx, x, n, runs, seed)
	if err != nil {
		return nil, err
	}
	var chosen []representative
	for _, rows := range groups {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			chosen = append(chosen, representative{densest(x, rows), len(rows)})
		}
	}
	for len(chosen) < n { // k-means can leave a cluster empty
		chosen = append(chosen, representative{farthest(x, chosen), 1})
	}
	return chosen, nil
}

// tightest returns the rows of n clusters, of the best of several runs of k-means.
func tightest(ctx context.Context, x blas32.General, n, runs int, seed uint64) ([][]int, error) {
	var best [][]int
	var most float64
	settings := kmeans.Config{Clusters: n, Candidates: firstCandidates, Rounds: firstRounds}
	for run := range runs {
		of, err := kmeans.Cluster(ctx, linalg.Backend{}, x, settings, random.Stream(seed, "label/rank/first", run))
		if err != nil {
			return nil, err
		}
		groups := make([][]int, n)
		for i, g := range of {
			groups[g] = append(groups[g], i)
		}
		if b := between(x, groups); best == nil || b > most {
			best, most = groups, b
		}
	}
	return best, nil
}

// between returns Σ n_g‖c_g‖², with the centres c_g: the larger it is, the smaller is the
// spread within groups.
func between(x blas32.General, groups [][]int) (total float64) {
	sum, row := make([]float64, x.Cols), make([]float64, x.Cols)
	for _, rows := range groups {
		clear(sum)
		for _, i := range rows {
			dense.Widen(row, dense.Row32(x, i))
			for j, v := range row {
				sum[j] += v
			}
		}
		if len(rows) > 0 {
			total += dense.SumSquares(sum) / float64(len(rows))
		}
	}
	return total
}

// densest returns the one of some rows of length 1 with the largest mean cosine to
// its nearest neighbours among them, the first in a tie. O(len(rows)²d).
func densest(x blas32.General, rows []int) int {
	density := make([]float64, len(rows))
	dense.Parallel(len(rows), func(k int) {
		near := make([]float32, 0, len(rows)-1)
		for _, j := range rows {
			if j != rows[k] {
				near = append(near, blas32.Dot(vector(x, rows[k]), vector(x, j)))
			}
		}
		slices.SortFunc(near, func(a, b float32) int { return cmp.Compare(b, a) })
		for _, v := range near[:min(neighbours, len(near))] {
			density[k] += float64(v)
		}
	})
	best := 0
	for k, v := range density {
		if v > density[best] {
			best = k
		}
	}
	return rows[best]
}

// farthest returns the row whose nearest chosen row is farthest from it.
func farthest(x blas32.General, chosen []representative) int {
	nearest := make([]float32, x.Rows)
	dense.Parallel(x.Rows, func(i int) {
		nearest[i] = -2 // less than any cosine
		for _, c := range chosen {
			if c.row == i {
				nearest[i] = 2
				break
			}
			nearest[i] = max(nearest[i], blas32.Dot(vector(x, i), vector(x, c.row)))
		}
	})
	best := 0
	for i, v := range nearest {
		if v < nearest[best] {
			best = i
		}
	}
	return best
}
