package hppca

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/lowrank"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

const (
	// batchValues bounds the values stored for the rows scored at a time. The
	// more rows there are, the less often the components are read.
	batchValues = 8 << 20
	maxBatch    = 4096
	// leastExponent is the distance below the largest value, in nats, at which a
	// term no longer counts in a sum of exponentials, whatever the number of
	// classes.
	leastExponent = -64
)

// Score implements classifier.Head. Besides the C values of a row it costs O((S
// + A)qd) per row, where A is the number of classes visited. The novelty is
// log N(x; background) − max log-density over the visited classes, or half the difference
// of squared Mahalanobis distances without log-determinant.
func (h *HPPCA) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	err := classifier.CheckScore(h, dst, novelty, x)
	if err == nil {
		s := h.Model().Shared.scorer
		err = s.each(x, func(i int, f *found) {
			if novelty != nil {
				novelty[i] = s.novelty(f)
			}
			s.logProb(dense.Row(dst, i), f)
		})
	}
	return named(err)
}

// A Visit records how one example was classified.
type Visit struct {
	// Column is the class, as an index of Classes.
	Column int
	// Neurons is the number of nodes and classes scored: S + A of eq. 5.1.
	Neurons int
	// Supers holds the super-classes whose classes were scored, ascending.
	Supers []int
}

// Visits classifies the rows of x (n×d) by Algorithm 1 alone, without the
// distribution over all classes.
func (h *HPPCA) Visits(x blas32.General) ([]Visit, error) {
	out := make([]Visit, max(x.Rows, 0))
	err := classifier.CheckRows(x, h.Dim())
	if len(h.Classes()) == 0 {
		err = classifier.ErrNotFitted
	}
	if err == nil {
		err = h.Model().Shared.scorer.each(x, func(i int, f *found) {
			out[i] = Visit{Column: f.best().item, Neurons: f.neurons, Supers: slices.Sorted(slices.Values(f.supers))}
		})
	}
	return out, named(err)
}

func named(err error) error {
	if err != nil {
		return fmt.Errorf("hppca: %w", err)
	}
	return nil
}

// A scorer holds what scoring needs of all nodes and classes, stacked by parent
// for one product per batch. It is immutable.
type scorer struct {
	mul               linalg.Backend
	normalize, logDet bool
	background        lowrank.Background
	t                 int
	gap               float64
	dim, classes      int
	centre            []float64
	// steps holds the levels from the top; the last holds the classes.
	steps []step
	// supers holds, for each column, its node in the lowest level above it.
	supers []int
	batch  int
}

// A step is one level, stacked by parent.
type step struct {
	stacks []*lowrank.Stack // by parent
	items  [][]int          // contents of each stack: nodes of this level, or columns
	under  [][]int          // the columns below each node of this level; nil for classes
	lowest [][]int          // the nodes of the lowest level at or below each node of this one; nil for classes
}

// newScorer stacks all levels; the components of gs move (lowrank.NewStack).
func newScorer(mul linalg.Backend, cfg Config, t tree, gs []lowrank.Gaussian, supers []int) *scorer {
	s := &scorer{
		mul: mul, normalize: *cfg.Normalize, logDet: *cfg.LogDet, t: cfg.T, gap: cfg.Gap,
		dim: gs[0].Dim(), classes: len(gs), centre: lowrank.MeanOfMeans(gs), steps: make([]step, len(t.levels)+1),
		supers: supers,
	}
	s.background = lowrank.BackgroundOf(gs, s.centre, s.logDet)
	parents := 1
	for l, level := range t.levels {
		s.steps[l] = s.stack(level.nodes, level.parent, parents, cfg.T)
		parents = len(level.nodes)
	}
	s.steps[len(t.levels)] = s.stack(gs, supers, parents, cfg.T)
	under, lowest := s.steps[len(t.levels)].items, make([][]int, parents)
	for node := range lowest {
		lowest[node] = []int{node}
	}
	for l := len(t.levels) - 1; l >= 0; l-- {
		s.steps[l].under, s.steps[l].lowest = under, lowest
		under, lowest = gathered(s.steps[l].items, under), gathered(s.steps[l].items, lowest)
	}
	s.batch = s.batchSize()
	return s
}

// gathered concatenates, for every parent, the entries of its items.
func gathered(items, have [][]int) [][]int {
	all := make([][]int, len(items))
	for parent, own := range items {
		for _, item := range own {
			all[parent] = append(all[parent], have[item]...)
		}
	}
	return all
}

// stack groups Gaussians by their parents, of which each row visits the given
// number.
func (s *scorer) stack(gs []lowrank.Gaussian, parent []int, parents, visited int) step {
	st := step{stacks: make([]*lowrank.Stack, parents), items: make([][]int, parents)}
	for i, p := range parent {
		st.items[p] = append(st.items[p], i)
	}
	mode := lowrank.Precise
	if parents > visited {
		mode = lowrank.Few
	}
	dense.Parallel(parents, func(p int) {
		own := make([]lowrank.Gaussian, len(st.items[p]))
		for i, item := range st.items[p] {
			own[i] = gs[item]
		}
		st.stacks[p] = lowrank.NewStack(own, s.centre, s.logDet, mode, s.mul)
		for i, item := range st.items[p] {
			gs[item].Basis = own[i].Basis
		}
	})
	return st
}

// batchSize returns the number of rows to score at a time, based on the scores
// of the T largest stacks of classes.
func (s *scorer) batchSize() int {
	var sizes []int
	for _, stack := range s.steps[len(s.steps)-1].stacks {
		sizes = append(sizes, stack.Len())
	}
	slices.SortFunc(sizes, func(a, b int) int { return cmp.Compare(b, a) })
	visited := 1
	for _, n := range sizes[:min(s.t, len(sizes))] {
		visited += n
	}
	return min(maxBatch, max(8, batchValues/visited))
}

// ranked is a node or a column with its score.
type ranked struct {
	item  int
	score float64
}

// found is the result of the search for one row.
type found struct {
	classes []ranked   // the visited ones
	supers  []int      // the super-classes above them
	skipped [][]ranked // by step: the nodes that were scored but not visited
	neurons int        // nodes and classes scored
	unseen  float64    // the score of the background
}

// A group holds the rows that visit one parent.
type group struct {
	parent int
	rows   []int
}

// find is Algorithm 1 for a batch: at every level the rows are grouped by the
// parents they visit, and the items of a parent are scored for all of its rows
// at once.
func (s *scorer) find(x blas32.General) ([]found, error) {
	q := lowrank.NewQueries(lowrank.Placed(x, s.normalize), s.centre)
	out := make([]found, x.Rows)
	for i, v := range q.Background(s.background) {
		out[i].unseen = v
	}
	groups := []group{{rows: dense.Range(0, x.Rows)}}
	last := len(s.steps) - 1
	for l := range s.steps {
		candidates, err := s.steps[l].score(q, groups, x.Rows)
		if err != nil {
			return nil, err
		}
		if l == last {
			for i := range out {
				out[i].classes = candidates[i]
				out[i].neurons += len(candidates[i])
			}
			break
		}
		dense.Parallel(len(out), func(i int) { out[i].descend(candidates[i], s.visited(candidates[i])) })
		groups = s.steps[l+1].visits(out)
	}
	return out, nil
}

// descend records that the first n candidates are visited.
func (f *found) descend(candidates []ranked, n int) {
	f.neurons += len(candidates)
	f.supers = f.supers[:0]
	for _, c := range candidates[:n] {
		f.supers = append(f.supers, c.item)
	}
	f.skipped = append(f.skipped, candidates[n:])
}

// visits groups the rows by the parents that they visit.
func (st step) visits(of []found) []group {
	rows := make([][]int, len(st.stacks))
	for i := range of {
		for _, parent := range of[i].supers {
			rows[parent] = append(rows[parent], i)
		}
	}
	var groups []group
	for parent, r := range rows {
		if len(r) > 0 {
			groups = append(groups, group{parent, r})
		}
	}
	return groups
}

// score returns the items below the parents of every row, with scores.
func (st step) score(q *lowrank.Queries, groups []group, rows int) ([][]ranked, error) {
	scores, order := make([]blas64.General, len(groups)), st.largestFirst(groups)
	err := dense.ParallelErr(len(groups), func(i int) (err error) {
		g := order[i]
		scores[g], err = st.stacks[groups[g].parent].Scores(q, groups[g].rows)
		return err
	})
	if err != nil {
		return nil, err
	}
	type place struct{ group, row int }
	at := make([][]place, rows)
	for g := range groups {
		for i, row := range groups[g].rows {
			at[row] = append(at[row], place{g, i})
		}
	}
	out := make([][]ranked, rows)
	dense.Parallel(rows, func(row int) {
		n := 0
		for _, p := range at[row] {
			n += scores[p.group].Cols
		}
		out[row] = make([]ranked, 0, n)
		for _, p := range at[row] {
			s := scores[p.group]
			for j, item := range st.items[groups[p.group].parent] {
				out[row] = append(out[row], ranked{item, s.Data[p.row*s.Stride+j]})
			}
		}
	})
	return out, nil
}

// largestFirst orders groups by their work, so that no core ends with a large
// one while the others wait.
func (st step) largestFirst(groups []group) []int {
	work := func(g int) int { return len(groups[g].rows) * st.stacks[groups[g].parent].Rows() }
	order := dense.Range(0, len(groups))
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(work(b), work(a)), cmp.Compare(a, b)) })
	return order
}

// visited moves the nodes to visit to the front, best first (among equals, the
// lower node), and returns their number.
func (s *scorer) visited(candidates []ranked) int {
	n := min(s.t, len(candidates))
	for i := range n {
		best := i
		for j := i + 1; j < len(candidates); j++ {
			a, b := candidates[j], candidates[best]
			if a.score > b.score || a.score == b.score && a.item < b.item {
				best = j
			}
		}
		candidates[i], candidates[best] = candidates[best], candidates[i]
	}
	for s.gap > 0 && n > 1 && candidates[0].score-candidates[n-1].score > s.gap {
		n--
	}
	return n
}

// each calls do with the result of the search for every row of x, on all cores.
func (s *scorer) each(x blas32.General, do func(i int, f *found)) error {
	for first := 0; first < x.Rows; first += s.batch {
		rows := dense.Rows32(x, first, min(first+s.batch, x.Rows))
		f, err := s.find(rows)
		if err != nil {
			return err
		}
		dense.Parallel(rows.Rows, func(i int) { do(first+i, &f[i]) })
	}
	return nil
}

// best returns the largest score of a visited class and its column, among
// equals the lower column.
func (f *found) best() ranked {
	best := f.classes[0]
	for _, c := range f.classes[1:] {
		if c.score > best.score || c.score == best.score && c.item < best.item {
			best = c
		}
	}
	return best
}

// logProb writes the log-probabilities of all classes. A super-class stands for
// the mixture of the classes below it (eq. 4.13, 4.14), in which each has the
// weight 1/n: none can have more than n times the density of the mixture. An
// unvisited class gets that bound, from the score of its super-class, but at
// most half of the best visited class's density, so that the decision stays
// that of Algorithm 1.
func (s *scorer) logProb(dst []float64, f *found) {
	best := f.best().score
	most := min(best-math.Ln2, math.Nextafter(best, math.Inf(-1)))
	var sum float64
	for _, c := range f.classes {
		if !(c.score-best <= leastExponent) { // so that a NaN propagates
			sum += math.Exp(c.score - best)
		}
	}
	for l, nodes := range f.skipped {
		for i := range nodes {
			n := float64(len(s.steps[l].under[nodes[i].item]))
			nodes[i].score = min(nodes[i].score+math.Log(n), most)
			if !(nodes[i].score-best <= leastExponent) {
				sum += n * math.Exp(nodes[i].score-best)
			}
		}
	}
	logSum := math.Log(sum)
	bounds := make([]float64, len(s.steps[len(s.steps)-1].stacks)) // by node of the lowest level
	for l, nodes := range f.skipped {
		for _, node := range nodes {
			for _, lowest := range s.steps[l].lowest[node.item] {
				bounds[lowest] = node.score - best - logSum
			}
		}
	}
	for column, super := range s.supers {
		dst[column] = bounds[super]
	}
	for _, c := range f.classes {
		dst[c.item] = c.score - best - logSum
	}
}

// novelty compares the best of the visited classes with the background.
func (s *scorer) novelty(f *found) float64 {
	return f.unseen - f.best().score
}
