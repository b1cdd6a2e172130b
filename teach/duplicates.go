package teach

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/disjoint"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/neighbours"
	"github.com/seed-90d10d51/pipeline/label/rank"
)

// Photos are near-duplicates from some likeness on. People choose it; unless they do it is UsualAlike, with which
// docs/log/labelling.md finds nearly all copies, and hardly a photo too many.
const (
	LeastAlike, MostAlike = 0.80, 0.98
	UsualAlike            = 0.84
	alikeStep             = 0.02
)

const (
	// mostCompared is the most photos of which all pairs are compared.
	mostCompared = 2048
	// maybeAlike is the cosine of embeddings from which two photos are looked at.
	maybeAlike = 0.75
)

// A copying has the near-duplicates of an album.
type copying struct {
	n      int    // photos of the album that it knows
	pairs  []pair // those that may be near-duplicates
	levels []level
	// sketches are those of photos of pairs, nil of one that cannot be read. looked reports that the levels know them,
	// looking that they are being made.
	sketches        map[int]*Sketch
	looked, looking bool
}

// A pair is two photos, and the cosine of their embeddings.
type pair struct {
	a, b   int32
	cosine float32
}

// A level has the groups of near-duplicates of some likeness.
type level struct {
	rows [][]int // of each group, in the order of their names
	in   map[int]int
}

// at returns the level of a likeness, 0 for the usual one.
func (c *copying) at(alike float64) level {
	k := int(math.Round((cmp.Or(alike, UsualAlike) - LeastAlike) / alikeStep))
	if k < 0 || k >= len(c.levels) {
		return level{}
	}
	return c.levels[k]
}

// likeness returns how alike photos i and j are, given the cosine of their embeddings: the mean of that and of the
// correlation of their sketches. Shots of one moment are alike by their embeddings, whatever has moved between them.
func (c *copying) likeness(i, j int, cosine float64) float64 {
	alike := cosine - (rank.SameShot - UsualAlike)
	a, b := c.sketches[i], c.sketches[j]
	if cosine < maybeAlike || a == nil || b == nil {
		return alike
	}
	return max(alike, (cosine+a.correlation(b))/2)
}

// Duplicates are photos of which each is nearly the same as one of them: taken at one moment,
// or made from one file. Equal files are one photo.
type Duplicates struct {
	Size  int
	Items []Item // the first few, in the order of their names
}

// A Level counts the groups from some likeness on, and their photos.
type Level struct {
	Alike          float64
	Groups, Photos int
}

// A Copies is what Session.Duplicates returns.
type Copies struct {
	Groups []Duplicates
	// Total counts all groups, Levels those of each likeness that can be asked for.
	Total  int
	Levels []Level
	// Computing reports that they are being looked for.
	Computing bool
}

// Duplicates returns at most q.Limit groups of near-duplicates that are not all decided, with
// some photos of each: first those with different labels, then the largest. Of q it takes
// q.Alike and what selects photos by name, folder and time, which one of a group has
// to meet. It begins to look for them if there are other photos, first at their embeddings, then at their pixels.
func (s *Session) Duplicates(q Query, shown int) (found Copies, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.arranging.err; err != nil {
		s.arranging.err = nil
		return found, err
	}
	s.arrangeIfDue()
	s.lookIfDue()
	found.Computing = s.arranging.running || s.duplicates.looking
	for k, l := range s.duplicates.levels {
		groups := s.openGroups(l, q)
		count := Level{Alike: LeastAlike + float64(k)*alikeStep, Groups: len(groups)}
		for _, g := range groups {
			count.Photos += len(g.rows)
		}
		found.Levels = append(found.Levels, count)
	}
	groups := s.openGroups(s.duplicates.at(q.Alike), q)
	found.Total = len(groups)
	slices.SortFunc(groups, func(a, b openGroup) int {
		switch {
		case a.torn && !b.torn:
			return -1
		case b.torn && !a.torn:
			return 1
		}
		return cmp.Or(cmp.Compare(len(b.rows), len(a.rows)), strings.Compare(a.first, b.first))
	})
	for _, g := range groups[:min(q.Limit, len(groups))] {
		d := Duplicates{Size: len(g.rows)}
		for _, i := range g.rows[:min(shown, len(g.rows))] {
			d.Items = append(d.Items, s.item(i))
		}
		found.Groups = append(found.Groups, d)
	}
	return found, nil
}

// An openGroup has the photos of a group that are in the folder and not set aside; torn reports that they have
// different labels.
type openGroup struct {
	rows  []int
	torn  bool
	first string // its name
}

// openGroups returns the groups of a level that are not all decided and of which a query selects a photo.
func (g *gallery) openGroups(l level, q Query) (groups []openGroup) {
	for _, rows := range l.rows {
		rows, torn := g.undecided(rows)
		if slices.ContainsFunc(rows, func(i int) bool { return g.selects(q, i) }) {
			groups = append(groups, openGroup{rows, torn, g.photos[rows[0]].Path})
		}
	}
	return groups
}

// lookIfDue begins to compare the pixels of photos whose embeddings are alike, if that has not been done.
func (s *Session) lookIfDue() {
	d := &s.duplicates
	if d.looked || d.looking || s.options.Sketch == nil || len(d.pairs) == 0 || s.arranging.running ||
		d.n != len(s.photos) || s.photo.Scanning || s.ctx.Err() != nil {
		return
	}
	d.looking = true
	s.working.Go(func() {
		n, levels, err := s.look()
		s.mu.Lock()
		d.looking = false
		if err == nil && d.n == n {
			d.levels, d.looked = levels, true
			s.touch()
		}
		s.mu.Unlock()
		s.options.Changed("groups")
	})
}

// look compares the pixels of photos that may be near-duplicates, of an album of n.
func (s *Session) look() (n int, levels []level, err error) {
	if err := s.sketch(s.ctx); err != nil {
		return 0, nil, err
	}
	s.mu.RLock()
	now := s.duplicates
	s.mu.RUnlock()
	levels, err = s.levels(s.ctx, &now)
	return now.n, levels, err
}

// undecided returns the photos of a group that are in the folder and not set aside, none if
// fewer than two are left or all have a decision. torn reports that they have different labels.
func (g *gallery) undecided(rows []int) (left []int, torn bool) {
	open, labels := false, map[string]bool{}
	for _, i := range rows {
		class, by := g.label(i)
		if g.photos[i].Path == "" || by.Aside() || by == label.Detector {
			continue
		}
		left = append(left, i)
		decided, _ := g.decided(i)
		open = open || !decided
		if class != "" {
			labels[class] = true
		}
	}
	if len(left) < 2 || !open {
		return nil, false
	}
	return left, len(labels) > 1
}

// pairs returns those of rows of an album that may be near-duplicates, of which a graph has the neighbours. Cost:
// O(n·k·d).
func (a *album) pairs(ctx context.Context, graph neighbours.Graph, rows []int) (pairs []pair, err error) {
	// Distances of the graph are at most those of the embeddings.
	const within, rounding = 2 * (1 - maybeAlike), 1e-5
	parts := make([][]pair, (len(rows)+block-1)/block)
	err = blocks(ctx, 0, len(rows), func(first, last int) error {
		some, err := a.gather(rows[first:last])
		if err != nil {
			return err
		}
		for i := first; i < last; i++ {
			near, squares := graph.Of(i)
			for k, j := range near {
				if squares[k] > within+rounding {
					break
				}
				other, err := a.x.read(rows[j], rows[j]+1, nil)
				if err != nil {
					return err
				}
				if c := cosine(dense.Row32(some, i-first), other.Data); c >= maybeAlike {
					parts[first/block] = append(parts[first/block], pair{int32(rows[i]), int32(rows[j]), float32(c)})
				}
			}
		}
		return nil
	})
	return slices.Concat(parts...), err
}

func cosine(x, y []float32) float64 {
	a, b := vector(x), vector(y)
	if length := blas32.Nrm2(a) * blas32.Nrm2(b); length > 0 {
		return float64(blas32.Dot(a, b) / length)
	}
	return 0
}

// copies finds near-duplicates among photos by their embeddings alone, and by sketches that are there.
func (s *Session) copies(graph neighbours.Graph, rows []int) (c copying, err error) {
	if c.pairs, err = s.pairs(s.ctx, graph, rows); err != nil {
		return c, err
	}
	s.mu.RLock()
	c.sketches = maps.Clone(s.duplicates.sketches)
	s.mu.RUnlock()
	if c.sketches == nil {
		c.sketches = map[int]*Sketch{}
	}
	c.levels, err = s.levels(s.ctx, &c)
	return c, err
}

// levels returns the groups of each likeness.
func (s *Session) levels(ctx context.Context, c *copying) (levels []level, err error) {
	for k := 0; LeastAlike+float64(k)*alikeStep < MostAlike+alikeStep/2; k++ {
		rows, err := s.groupsFrom(ctx, c, LeastAlike+float64(k)*alikeStep)
		if err != nil {
			return nil, err
		}
		levels = append(levels, level{rows, map[int]int{}})
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, l := range levels {
		for g, rows := range l.rows {
			slices.SortFunc(rows, func(i, j int) int { return strings.Compare(s.photos[i].Path, s.photos[j].Path) })
			for _, i := range rows {
				l.in[i] = g
			}
		}
	}
	return levels, nil
}

// groupsFrom returns groups of photos each of which is as alike as is asked to the first of its group. Those that hang
// together by pairs are compared with each other, at most some of them at a time: a larger heap becomes several
// groups. Cost: O(n·mostCompared·d) if all are alike.
func (a *album) groupsFrom(ctx context.Context, c *copying, alike float64) (groups [][]int, err error) {
	sets, at := disjoint.Sets{}, map[int32]int{}
	var rows []int
	number := func(i int32) int {
		if _, ok := at[i]; !ok {
			at[i] = len(rows)
			rows = append(rows, int(i))
			sets.Add()
		}
		return at[i]
	}
	for _, p := range c.pairs {
		if c.likeness(int(p.a), int(p.b), float64(p.cosine)) >= alike {
			sets.Join(number(p.a), number(p.b))
		}
	}
	heaps := make([][]int, len(rows))
	for k, row := range rows {
		root := sets.Root(k)
		heaps[root] = append(heaps[root], row)
	}
	for _, heap := range heaps {
		for part := range slices.Chunk(heap, mostCompared) {
			x, err := a.gather(part)
			if err != nil {
				return nil, err
			}
			var firsts []int
			of := map[int][]int{}
			for k, row := range part {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				first := slices.IndexFunc(firsts, func(f int) bool {
					return c.likeness(part[f], row, cosine(dense.Row32(x, f), dense.Row32(x, k))) >= alike
				})
				if first < 0 {
					firsts, first = append(firsts, k), len(firsts)
				}
				of[firsts[first]] = append(of[firsts[first]], row)
			}
			for _, f := range firsts {
				if len(of[f]) > 1 {
					groups = append(groups, of[f])
				}
			}
		}
	}
	return groups, nil
}

// picked returns some of all.
func picked[T any](all []T, which []int) (out []T) {
	for _, k := range which {
		out = append(out, all[k])
	}
	return out
}
