package teach

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/seed-90d10d51/pipeline/label/rank"
	"github.com/seed-90d10d51/pipeline/model"
)

// maxGrouped is the most photos that are grouped; the time grows with their square.
const maxGrouped = 2000

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

// with returns the groupings with a new one, of a revision. The clock keeps the IDs of two
// servers of a model apart.
func (s *groupingState) with(groups [][]int, revision int, now time.Time) groupingState {
	next := grouping{max(s.last().end(), int(now.UnixMilli())), groups}
	kept := append(s.kept[max(0, len(s.kept)+1-keptGroupings):], next)
	of := map[int]int{}
	for g, rows := range groups {
		for _, i := range rows {
			of[i] = next.first + g
		}
	}
	return groupingState{kept: kept, of: of, revision: revision}
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
	old := s.groups.of == nil || s.groups.revision != s.revision
	if old && s.live != nil && !s.groups.running && s.ctx.Err() == nil {
		s.groups.running = true
		s.working.Go(s.group)
	}
	return s.shown(limit, shown), s.groups.running
}

// shown returns at most limit groups of those last computed, with at most some photos of
// each.
func (g *gallery) shown(limit, photos int) (groups []Group) {
	last := g.groups.last()
	for n, rows := range last.list {
		rows = slices.DeleteFunc(slices.Clone(rows), func(i int) bool {
			label, by := g.label(i)
			return label != "" || by.Aside() || g.photos[i].Path == ""
		})
		if len(rows) == 0 {
			continue
		}
		out := Group{ID: last.first + n, Size: len(rows)}
		for _, i := range rows[:min(photos, len(rows))] {
			out.Items = append(out.Items, g.item(i))
		}
		if groups = append(groups, out); len(groups) == limit {
			break
		}
	}
	return groups
}

// group computes the groups.
func (s *Session) group() {
	found := s.order(Query{View: Novel}).rows
	s.mu.RLock()
	revision := s.revision
	live, err := s.live.frozen()
	s.mu.RUnlock()
	var groups [][]int
	if err == nil && live != nil {
		groups = clusters(s.ctx, live.Predictor, &s.album, found[:min(len(found), maxGrouped)])
	}
	s.mu.Lock()
	s.groups = s.groups.with(groups, revision, s.options.Now())
	s.mu.Unlock()
	s.options.Changed("groups")
}

// clusters groups photos of an album, the largest group first; nil if that fails, as it
// does when the session ends.
func clusters(ctx context.Context, p *model.Predictor, a *album, chosen []int) [][]int {
	x, err := a.gather(chosen)
	if err != nil || len(chosen) == 0 {
		return nil
	}
	groups, err := rank.Cluster(ctx, p, x)
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
