package teach

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/disjoint"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/neighbours"
	"github.com/seed-90d10d51/pipeline/label/rank"
)

// mostCompared is the most photos of which all pairs are compared.
const mostCompared = 2048

// A copying has the near-duplicates of an album.
type copying struct {
	n    int     // photos of the album that it knows
	rows [][]int // of each group of them, in the order of their names
	in   map[int]int
}

// Duplicates are photos of which each is nearly the same as one of them: taken at one moment,
// or made from one file. Equal files are one photo.
type Duplicates struct {
	Size  int
	Items []Item // the first few, in the order of their names
}

// Duplicates returns at most q.Limit groups of near-duplicates that are not all decided, with
// some photos of each: first those with different labels, then the largest. n counts all of
// them. Of q it takes what selects photos by name, folder and time, which one of a group has
// to meet. It begins to look for them if there are other photos; computing reports that.
func (s *Session) Duplicates(q Query, shown int) (found []Duplicates, n int, computing bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.arranging.err; err != nil {
		s.arranging.err = nil
		return nil, 0, false, err
	}
	s.arrangeIfDue()
	type group struct {
		rows  []int
		torn  bool
		first string
	}
	var groups []group
	for _, rows := range s.duplicates.rows {
		rows, torn := s.undecided(rows)
		if slices.ContainsFunc(rows, func(i int) bool { return s.selects(q, i) }) {
			groups = append(groups, group{rows, torn, s.photos[rows[0]].Path})
		}
	}
	slices.SortFunc(groups, func(a, b group) int {
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
		found = append(found, d)
	}
	return found, len(groups), s.arranging.running, nil
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

// copies finds near-duplicates among rows of an album, of which a graph has the neighbours.
// It compares the embeddings of those that hang together, at most some of them at a time: a
// larger heap becomes several groups. Cost: O(n·mostCompared·d) if all are alike.
func (a *album) copies(ctx context.Context, graph neighbours.Graph, rows []int) (groups copying, err error) {
	// Distances of the graph are at most those of the embeddings.
	const within, rounding = 2 * (1 - rank.SameShot), 1e-5
	sets := disjoint.New(len(rows))
	for i := range rows {
		near, squares := graph.Of(i)
		for k, j := range near {
			if squares[k] <= within+rounding {
				sets.Join(i, int(j))
			}
		}
	}
	heaps := map[int][]int{}
	for i, row := range rows {
		heaps[sets.Root(i)] = append(heaps[sets.Root(i)], row)
	}
	for i := range rows {
		if len(heaps[i]) < 2 { // i is no root, or alone
			continue
		}
		for part := range slices.Chunk(heaps[i], mostCompared) {
			x, err := a.gather(part)
			if err != nil {
				return copying{}, err
			}
			copies, firsts, err := rank.Duplicates(ctx, x)
			if err != nil {
				return copying{}, err
			}
			for _, first := range firsts {
				if len(copies[first]) > 0 {
					groups.rows = append(groups.rows, picked(part, append(copies[first], first)))
				}
			}
		}
	}
	return groups, nil
}

// picked returns some of all.
func picked(all, which []int) (out []int) {
	for _, k := range which {
		out = append(out, all[k])
	}
	return out
}

// numbered returns the groups of the first n photos, each in the order of names.
func (c copying) numbered(n int, photos []Photo) copying {
	c.n, c.in = n, map[int]int{}
	for g, rows := range c.rows {
		slices.SortFunc(rows, func(i, j int) int { return strings.Compare(photos[i].Path, photos[j].Path) })
		for _, i := range rows {
			c.in[i] = g
		}
	}
	return c
}
