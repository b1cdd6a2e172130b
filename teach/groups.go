package teach

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/label/rank"
)

// maxGrouped is the most photos that are grouped, and maxTypical the most from which
// typical ones are chosen; the time grows with their square.
const (
	maxGrouped = 2000
	maxTypical = 1500
	typicalOf  = 60 // typical photos
)

// keptGroupings is the number of groupings whose groups can still be asked for: a
// person names what was on the screen, though other decisions have changed the groups.
const keptGroupings = 8

// A grouping divides the unknown photos.
type grouping struct {
	first int     // ID of the first group; the others follow
	list  [][]int // rows of each group, the largest first
}

func (g grouping) end() int { return g.first + len(g.list) }

// A groupingState has the groupings, the last one last.
type groupingState struct {
	kept     []grouping
	of       map[int]int // IDs of the last one by row
	revision int         // when that was computed, −1 for never
	running  bool
}

// last returns the last grouping.
func (s *groupingState) last() (g grouping) {
	if n := len(s.kept); n > 0 {
		g = s.kept[n-1]
	}
	return g
}

// rows returns those of a group, nil if it is forgotten.
func (s *groupingState) rows(id int) []int {
	for _, g := range s.kept {
		if id >= g.first && id < g.end() {
			return g.list[id-g.first]
		}
	}
	return nil
}

// A Group is a set of unknown photos that probably show one thing.
type Group struct {
	ID    int // of these photos only: no other group ever has it
	Size  int
	Items []Item // the first few
}

// Groups returns the groups as last computed, with some photos of each, and begins to
// compute them if something has changed since; computing reports that.
func (s *Session) Groups(limit, shown int) (groups []Group, computing bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live != nil && !s.groups.running && (s.groups.of == nil || s.groups.revision != s.revision) && s.ctx.Err() == nil {
		s.groups.running = true
		s.working.Go(s.group)
	}
	last := s.groups.last()
	for g, rows := range last.list {
		rows = slices.DeleteFunc(slices.Clone(rows), func(i int) bool {
			label, _ := s.label(i)
			return label != "" || s.photos[i].Path == ""
		})
		if len(rows) == 0 {
			continue
		}
		out := Group{ID: last.first + g, Size: len(rows)}
		for _, i := range rows[:min(shown, len(rows))] {
			out.Items = append(out.Items, s.item(i))
		}
		if groups = append(groups, out); len(groups) == limit {
			break
		}
	}
	return groups, s.groups.running
}

// group computes the groups.
func (s *Session) group() {
	found := s.order(Query{View: Novel}).rows
	s.mu.RLock()
	revision := s.revision
	s.mu.RUnlock()
	chosen := found[:min(len(found), maxGrouped)]
	groups := s.clusters(chosen)
	s.mu.Lock()
	// The clock keeps the IDs of two servers of a model apart.
	next := grouping{max(s.groups.last().end(), int(s.options.Now().UnixMilli())), groups}
	kept := append(s.groups.kept[max(0, len(s.groups.kept)+1-keptGroupings):], next)
	s.groups = groupingState{kept: kept, of: map[int]int{}, revision: revision}
	for g, rows := range groups {
		for _, i := range rows {
			s.groups.of[i] = next.first + g
		}
	}
	s.mu.Unlock()
	s.options.Changed("groups")
}

// clusters groups rows, the largest group first; nil if that fails, as it does when
// the session ends.
func (s *Session) clusters(chosen []int) [][]int {
	x, err := s.gather(chosen)
	if err != nil || len(chosen) == 0 {
		return nil
	}
	s.mu.RLock()
	live := s.live
	if live != nil && live.linear != nil {
		live, err = twin(live) // decisions change the head
	}
	s.mu.RUnlock()
	if live == nil || err != nil {
		return nil
	}
	groups, err := rank.Cluster(s.ctx, live.Predictor, x)
	if err != nil {
		return nil
	}
	for _, g := range groups {
		for k, row := range g {
			g[k] = chosen[row]
		}
	}
	slices.SortStableFunc(groups, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	return groups
}

// gather reads the embeddings of rows.
func (s *Session) gather(chosen []int) (blas32.General, error) {
	x := dense.New32(len(chosen), s.options.Dim)
	for k, i := range chosen {
		row, err := s.x.read(i, i+1, nil)
		if err != nil {
			return x, err
		}
		copy(dense.Row32(x, k), row.Data)
	}
	return x, nil
}

// typical has the typical photos of the first n.
type typical struct {
	n     int
	place map[int]int // by row
}

// chooseTypical chooses photos of which each other one is like some: the greedy
// maximum of Σ_i max_j cos(x_i, x_j) over chosen j, among a drawn part of all.
func (s *Session) chooseTypical() {
	s.mu.RLock()
	n, known := len(s.photos), s.typical.n
	s.mu.RUnlock()
	if n == known || n < 2*known && known >= maxTypical {
		return
	}
	rng := random.Stream(0, "typical photos")
	drawn := dense.Range(0, n)
	if n > maxTypical {
		drawn = rng.Perm(n)[:maxTypical]
		slices.Sort(drawn)
	}
	x, err := s.gather(drawn)
	if err != nil {
		return
	}
	place := map[int]int{}
	for k, i := range representatives(x, typicalOf) {
		place[drawn[i]] = k
	}
	s.mu.Lock()
	s.typical = typical{n, place}
	s.touch()
	s.mu.Unlock()
}

// representatives returns at most k rows, the most representative first.
func representatives(x blas32.General, k int) []int {
	n := x.Rows
	vector := func(i int) blas32.Vector { return blas32.Vector{N: x.Cols, Inc: 1, Data: dense.Row32(x, i)} }
	for i := range n {
		if norm := blas32.Nrm2(vector(i)); norm > 0 {
			blas32.Scal(1/norm, vector(i))
		}
	}
	like := dense.New32(n, n)
	dense.Parallel(n, func(i int) {
		for j := range n {
			like.Data[i*n+j] = blas32.Dot(vector(i), vector(j))
		}
	})
	covered := make([]float32, n)
	var chosen []int
	for len(chosen) < min(k, n) {
		gain := make([]float64, n)
		dense.Parallel(n, func(j int) {
			for i, v := range dense.Row32(like, j) {
				gain[j] += float64(max(v-covered[i], 0))
			}
		})
		best := -1
		for j, g := range gain {
			if !slices.Contains(chosen, j) && (best < 0 || g > gain[best]) {
				best = j
			}
		}
		chosen = append(chosen, best)
		for i, v := range dense.Row32(like, best) {
			covered[i] = max(covered[i], v)
		}
	}
	return chosen
}
