package hppca

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/lowrank"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

const (
	// Rows scored at a time: batchValues bounds rows × visited components.
	batchValues = 8 << 20
	maxBatch    = 1024
)

// A scorer holds what scoring needs of all nodes and classes, those of one
// parent stacked for one product a batch. It is immutable.
type scorer struct {
	mul               linalg.Multiplier
	normalize, logDet bool
	t                 int
	gap               float64
	dim, classes      int
	centre            []float64
	// steps are the levels from the top; the last holds the classes.
	steps []step
	batch int
}

// step is one level below one parent or several.
type step struct {
	stacks []*lowrank.Stack // by parent
	items  [][]int          // what each stack holds: nodes of this level, or columns
	under  [][]int          // the columns below each node of this level; nil for classes
}

// newScorer stacks everything; the components of gs move (lowrank.NewStack).
func newScorer(mul linalg.Multiplier, cfg Config, t tree, gs []lowrank.Gaussian, supers []int) *scorer {
	s := &scorer{
		mul: mul, normalize: cfg.Normalize, logDet: cfg.LogDet, t: cfg.T, gap: cfg.Gap,
		dim: gs[0].Dim(), classes: len(gs), centre: lowrank.MeanOfMeans(gs), steps: make([]step, len(t.levels)+1),
	}
	parents := 1
	for l, level := range t.levels {
		s.steps[l] = s.stack(level.nodes, level.parent, parents, cfg.T)
		parents = len(level.nodes)
	}
	s.steps[len(t.levels)] = s.stack(gs, supers, parents, cfg.T)
	under := s.steps[len(t.levels)].items
	for l := len(t.levels) - 1; l >= 0; l-- {
		s.steps[l].under = under
		under = make([][]int, len(s.steps[l].stacks))
		for parent, items := range s.steps[l].items {
			for _, node := range items {
				under[parent] = append(under[parent], s.steps[l].under[node]...)
			}
		}
	}
	s.batch = s.batchSize()
	return s
}

// stack sorts Gaussians by their parents, of which a row visits so many.
func (s *scorer) stack(gs []lowrank.Gaussian, parent []int, parents, visited int) step {
	st := step{stacks: make([]*lowrank.Stack, parents), items: make([][]int, parents)}
	for i, p := range parent {
		st.items[p] = append(st.items[p], i)
	}
	linalg.Parallel(parents, func(p int) {
		own := make([]lowrank.Gaussian, len(st.items[p]))
		for i, item := range st.items[p] {
			own[i] = gs[item]
		}
		st.stacks[p] = lowrank.NewStack(own, s.centre, s.logDet, parents > visited, s.mul)
		for i, item := range st.items[p] {
			gs[item].Basis = own[i].Basis
		}
	})
	return st
}

// batchSize is the number of rows to score at a time, from the components of
// the T largest stacks of classes.
func (s *scorer) batchSize() int {
	var sizes []int
	for _, stack := range s.steps[len(s.steps)-1].stacks {
		sizes = append(sizes, stack.Components().Rows+stack.Len())
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

// found is what the search for one row came to.
type found struct {
	classes []ranked   // the visited ones
	supers  []int      // the super-classes above them
	skipped [][]ranked // by step: the nodes that were scored but not visited
	neurons int        // nodes and classes scored
}

// group is the rows that visit one parent.
type group struct {
	parent int
	rows   []int
}

// find is Algorithm 1 for a batch: at every level the rows are sorted by the
// parents they visit, and what is below a parent is scored for all of its rows
// at once.
func (s *scorer) find(x blas32.General) ([]found, error) {
	q := lowrank.NewQueries(s.place(x), s.centre)
	out := make([]found, x.Rows)
	groups := []group{{rows: classifier.Range(0, x.Rows)}}
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
		visits := make([][]int, len(s.steps[l+1].stacks))
		for i := range out {
			out[i].neurons += len(candidates[i])
			n := s.visited(candidates[i])
			out[i].supers = out[i].supers[:0]
			for _, c := range candidates[i][:n] {
				visits[c.item] = append(visits[c.item], i)
				out[i].supers = append(out[i].supers, c.item)
			}
			out[i].skipped = append(out[i].skipped, candidates[i][n:])
		}
		groups = groups[:0:0]
		for parent, rows := range visits {
			if len(rows) > 0 {
				groups = append(groups, group{parent, rows})
			}
		}
	}
	return out, nil
}

// score returns what is below the parents of every row, with scores.
func (st step) score(q *lowrank.Queries, groups []group, rows int) ([][]ranked, error) {
	scores, errs := make([]blas64.General, len(groups)), make([]error, len(groups))
	linalg.Parallel(len(groups), func(g int) {
		scores[g], errs[g] = st.stacks[groups[g].parent].Scores(q, groups[g].rows)
	})
	type place struct{ group, row int }
	at := make([][]place, rows)
	for g := range groups {
		if errs[g] != nil {
			return nil, errs[g]
		}
		for i, row := range groups[g].rows {
			at[row] = append(at[row], place{g, i})
		}
	}
	out := make([][]ranked, rows)
	linalg.Parallel(rows, func(row int) {
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

// visited moves the nodes to visit to the front, best first (of equals, the
// lower node), and returns how many there are.
func (s *scorer) visited(candidates []ranked) int {
	slices.SortFunc(candidates, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.item, b.item))
	})
	n := min(s.t, len(candidates))
	for s.gap > 0 && n > 1 && candidates[0].score-candidates[n-1].score > s.gap {
		n--
	}
	return n
}

// place returns x in float64, of length 1 if so configured. It rounds to
// float32 in between, as learning does.
func (s *scorer) place(x blas32.General) blas64.General {
	z := classifier.Placed(x, classifier.Range(0, x.Rows), s.normalize)
	if s.normalize {
		for i, v := range z.Data {
			z.Data[i] = float64(float32(v))
		}
	}
	return z
}

// each calls do with what is found for every row of x, on all cores.
func (s *scorer) each(x blas32.General, do func(i int, f *found)) error {
	for first := 0; first < x.Rows; first += s.batch {
		rows := classifier.Rows(x, first, min(first+s.batch, x.Rows))
		f, err := s.find(rows)
		if err != nil {
			return err
		}
		linalg.Parallel(rows.Rows, func(i int) { do(first+i, &f[i]) })
	}
	return nil
}

// best returns the largest score of a visited class and its column, of equals
// the lower column.
func (f *found) best() ranked {
	best := f.classes[0]
	for _, c := range f.classes[1:] {
		if c.score > best.score || c.score == best.score && c.item < best.item {
			best = c
		}
	}
	return best
}

// logProb writes the log-probabilities of all classes. A super-class stands
// for the mixture of the classes below it (eq. 4.13, 4.14), each of which
// weighs 1/n there: none can have more than n times the density of the
// mixture. That bound, from the super-class's own score, is what an unvisited
// class gets, and half of the best visited class's density at most, so that
// the decision stays that of Algorithm 1.
func (s *scorer) logProb(dst []float64, f *found) {
	best := f.best().score
	most := min(best-math.Ln2, math.Nextafter(best, math.Inf(-1)))
	var sum float64
	for _, c := range f.classes {
		sum += math.Exp(c.score - best)
	}
	for l, nodes := range f.skipped {
		for i := range nodes {
			n := float64(len(s.steps[l].under[nodes[i].item]))
			nodes[i].score = min(nodes[i].score+math.Log(n), most)
			sum += n * math.Exp(nodes[i].score-best)
		}
	}
	logSum := math.Log(sum)
	for _, c := range f.classes {
		dst[c.item] = c.score - best - logSum
	}
	for l, nodes := range f.skipped {
		for _, node := range nodes {
			v := node.score - best - logSum
			for _, column := range s.steps[l].under[node.item] {
				dst[column] = v
			}
		}
	}
}

// novelty is −max log-density over the visited classes, up to a constant, or
// min r without log-determinant.
func (s *scorer) novelty(f *found) float64 {
	if s.logDet {
		return -f.best().score
	}
	return -2 * f.best().score
}
