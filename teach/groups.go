package teach

import (
	"cmp"
	"slices"
	"time"

	"github.com/seed-90d10d51/pipeline/label/rank"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// maxGrouped is the most photos that are grouped; the time grows with their square.
const maxGrouped = 2000

// keptGroupings is the number of groupings whose groups can still be asked for: a
// person names what was on the screen, though other decisions have changed the groups.
const keptGroupings = 8

// Photos that look like a class one by one are offered as another thing if they are together: at least leastKind of
// them that the model is less sure of than mostSure on average, and leastApart nats more probably a class of their
// own than the one that they are called by (docs/log/labelling.md compares).
const (
	leastKind  = 5
	mostSure   = 0.7
	leastApart = 150
)

// What the model knows of its classes is compared with mostExamples of each, and with so many of all.
const (
	mostExamples = 30
	allExamples  = 1500
)

// A grouping divides the photos that look unknown, and those that look like another thing than they are called.
type grouping struct {
	first int     // ID of the first group; the others follow
	list  [][]int // rows of each group, those first that are most probably another thing, then the largest
	kinds int     // of them the first so many are another thing
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
func (s *groupingState) with(groups [][]int, kinds, revision int, now time.Time) groupingState {
	next := grouping{max(s.last().end(), int(now.UnixMilli())), groups, kinds}
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

// A Group is a set of photos that probably show one thing, which nobody has named.
type Group struct {
	ID    int // of these photos only: no other group ever has it
	Size  int
	Items []Item // the first few
	// Called is the class that the model takes most of the photos for, "" if most of them look unknown.
	Called string
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
		rows = g.unnamed(rows)
		if len(rows) == 0 {
			continue
		}
		out := Group{ID: last.first + n, Size: len(rows), Called: g.called(rows)}
		for _, i := range rows[:min(photos, len(rows))] {
			out.Items = append(out.Items, g.item(i))
		}
		if groups = append(groups, out); len(groups) == limit {
			break
		}
	}
	return groups
}

// unnamed returns those of some photos that are in the folder and have no label yet.
func (g *gallery) unnamed(rows []int) []int {
	return slices.DeleteFunc(slices.Clone(rows), func(i int) bool {
		label, by := g.label(i)
		return label != "" || by.Aside() || g.photos[i].Path == ""
	})
}

// called returns the class that the model takes most of some photos for, "" if most look unknown.
func (g *gallery) called(rows []int) (class string) {
	times := map[string]int{}
	for _, i := range rows {
		name := ""
		if g.live.scored(i) && !g.live.unknown(i) {
			name, _ = g.live.predicted(i)
		}
		if times[name]++; times[name] > times[class] || class == "" && 2*times[""] <= len(rows) {
			class = name
		}
	}
	return class
}

// kind returns the first group that is most probably another thing than it is called, nil if there is none.
func (g *gallery) kind() *account.Kind {
	last := g.groups.last()
	for _, rows := range last.list[:last.kinds] {
		if rows = g.unnamed(rows); len(rows) >= leastKind {
			return &account.Kind{Photos: len(rows), Called: g.called(rows)}
		}
	}
	return nil
}

// group computes the groups.
func (s *Session) group() {
	s.mu.RLock()
	revision := s.revision
	live, err := s.live.frozen()
	chosen := s.mostNovel()
	var have []model.SampleID
	if live != nil {
		have = s.live.have
	}
	s.mu.RUnlock()
	var kinds []rank.Kind
	if err == nil && live != nil && len(chosen) > 0 {
		kinds = s.kindsAmong(live.Predictor, chosen, have)
	}
	s.mu.Lock()
	groups, n := s.offered(kinds)
	s.groups = s.groups.with(groups, n, revision, s.options.Now())
	s.mu.Unlock()
	s.options.Changed("groups")
}

// mostNovel returns the photos without a label, the most novel first, at most maxGrouped.
func (g *gallery) mostNovel() (rows []int) {
	if g.live == nil {
		return nil
	}
	for i := range g.listed() {
		if label, by := g.label(i); label == "" && !by.Aside() && g.live.scored(i) {
			rows = append(rows, i)
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		return cmp.Compare(g.live.scores.photos[b].novelty, g.live.scores.photos[a].novelty)
	})
	return rows[:min(len(rows), maxGrouped)]
}

// kindsAmong groups photos; nil if that fails, as it does when the session ends.
func (s *Session) kindsAmong(p *model.Predictor, chosen []int, have []model.SampleID) []rank.Kind {
	x, err := s.gather(chosen)
	if err != nil {
		return nil
	}
	of := map[string]int{}
	for _, e := range have {
		of[e.Class]++
	}
	most := max(1, min(mostExamples, allExamples/max(1, len(of))))
	clear(of)
	some := slices.DeleteFunc(slices.Clone(have), func(e model.SampleID) bool {
		if of[e.Class] == most || s.lockedRow(ID(e.Content)) == nil { // a model need not keep its examples
			return true
		}
		of[e.Class]++
		return false
	})
	examples, err := batch(some, x.Cols, s.lockedRow)
	if err != nil {
		return nil
	}
	kinds, err := rank.Kinds(s.ctx, p, x, examples.X, examples.Labels)
	if err != nil {
		return nil
	}
	for _, kind := range kinds {
		for k, row := range kind.Rows {
			kind.Rows[k] = chosen[row]
		}
	}
	return kinds
}

// offered returns the groups to show: first those that are another thing than they are called, the most probable
// first, of which there are n, then of the others those photos that look unknown, the largest group first.
func (g *gallery) offered(kinds []rank.Kind) (groups [][]int, n int) {
	slices.SortStableFunc(kinds, func(a, b rank.Kind) int { return cmp.Compare(b.Apart, a.Apart) })
	var rest [][]int
	for _, kind := range kinds {
		if g.live == nil || !g.live.scored(slices.Max(kind.Rows)) {
			continue
		}
		sure := 0.0
		for _, i := range kind.Rows {
			_, p := g.live.predicted(i)
			sure += p / float64(len(kind.Rows))
		}
		if len(kind.Rows) >= leastKind && kind.Apart >= leastApart && sure < mostSure {
			groups = append(groups, kind.Rows)
			continue
		}
		unknown := slices.DeleteFunc(kind.Rows, func(i int) bool { return !g.live.unknown(i) })
		if len(unknown) > 0 {
			rest = append(rest, unknown)
		}
	}
	slices.SortStableFunc(rest, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	return append(groups, rest...), len(groups)
}
