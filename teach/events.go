package teach

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/label/events"
)

// eventsOf are the events of an album: photos of one camera that follow each other. With
// boxes, an event has those of its photos. Photos into which nobody has looked are of none.
type eventsOf struct {
	finding sync.Mutex    // locked before the session
	gap     time.Duration // 0 for no events
	rows    [][]int       // of each event, in the order of time
	of      map[int]int   // the event of a row
	// changes count those of the album since the events were found.
	changes int
}

// An Event is what is known of the photos for which an Item stands.
type Event struct {
	// Photos are files, Size counts what a decision may be about: these, or the boxes in
	// them that are not a detector's. Open of them have no decision.
	Photos, Size, Open int
	// Classes are those of the event, as label --events has them; none before it is scored.
	Classes []string
	// Best is the photo that shows the first of the Classes best.
	Best ID
	// Last is the last photo; the Item has what the first one says of itself.
	Last Photo
}

// fewChanges is the share of the photos that may change, while the folder is being read,
// before the events are found again.
const fewChanges = 0.02

// findEvents finds the events if the album has changed. Cost: O(n log n), a second for 100 000
// photos, in a copy of the album so that decisions need not wait.
func (s *Session) findEvents() {
	s.events.finding.Lock()
	defer s.events.finding.Unlock()
	s.mu.RLock()
	changes, gap := s.events.changes, s.events.gap
	reading := s.photo.Scanning && float64(changes) < fewChanges*float64(len(s.photos))
	if gap == 0 || changes == 0 || reading {
		s.mu.RUnlock()
		return
	}
	still := album{photos: slices.Clone(s.photos)}
	s.mu.RUnlock()
	rows := still.events(s.ctx, gap)
	if rows == nil {
		return // the session ends
	}
	of := map[int]int{}
	for k, members := range rows {
		for _, i := range members {
			of[i] = k
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events.rows, s.events.of = rows, of
	s.events.changes -= changes
	s.touch()
}

// events groups the photos of an album, or the boxes in them.
func (a *album) events(ctx context.Context, gap time.Duration) (rows [][]int) {
	in, files := map[string][]int{}, []string{}
	for i, p := range a.listed() {
		if p.Shot == nil {
			continue
		}
		file := p.File()
		if in[file] == nil {
			files = append(files, file)
		}
		in[file] = append(in[file], i)
	}
	groups, err := events.Group(ctx, "", func(yield func(events.Photo) bool) {
		for _, file := range files {
			photo := events.Photo{Path: file, Rows: len(in[file]), Known: a.photos[in[file][0]].Shot}
			if !yield(photo) {
				return
			}
		}
	}, events.Options{Gap: gap})
	if err != nil {
		return nil
	}
	of := map[*events.Event][]int{}
	for _, file := range files {
		e := groups.EventOf(file)
		of[e] = append(of[e], in[file]...)
	}
	rows = make([][]int, len(groups.Events))
	for k, e := range groups.Events {
		rows[k] = of[e]
		slices.SortFunc(rows[k], a.byTime)
	}
	return rows
}

// byTime compares two rows by when they were taken, their names and their boxes.
func (a *album) byTime(i, j int) int {
	p, q := a.photos[i], a.photos[j]
	order := cmp.Or(a.taken(i).Compare(a.taken(j)), strings.Compare(p.File(), q.File()))
	if order == 0 && p.Box != nil && q.Box != nil {
		order = cmp.Compare(p.Box.Number, q.Box.Number)
	}
	return order
}

// event returns the rows of the event of a row, in the order of time; only that one if it is
// of none.
func (g *gallery) event(i int) []int {
	if k, ok := g.events.of[i]; ok {
		return g.events.rows[k]
	}
	return []int{i}
}

// members returns those of the event of a row that are there and may need a decision.
func (g *gallery) members(i int) (rows []int) {
	for _, r := range g.event(i) {
		if g.photos[r].Path != "" && g.counts(r) {
			rows = append(rows, r)
		}
	}
	return rows
}

// counts reports whether a row is more than what a detector names.
func (g *gallery) counts(i int) bool { return !g.photos[i].detected() || g.state.knows(g.photos[i].ID) }

// folded describes the event of row i as if it were a photo; a photo of no other as itself.
func (g *gallery) folded(i int) Item {
	members := g.members(i)
	if len(members) < 2 || !g.counts(i) {
		return g.item(i)
	}
	e := &Event{Size: len(members), Last: g.photos[members[len(members)-1]]}
	it := Item{Photo: g.photos[members[0]], Event: e}
	it.Label, it.By = g.label(members[0])
	it.Labels = g.state.marks[it.ID].labels()
	files := map[string]bool{}
	var rows []events.Evidence
	var of []int
	for _, r := range members {
		files[g.photos[r].File()] = true
		label, by := g.label(r)
		if label != it.Label || by != it.By {
			it.Label, it.By, it.Labels = "", "", nil
		}
		if _, open := g.decided(r); open {
			e.Open++
		}
		if by.Aside() || !g.live.scored(r) || label == "" && g.live.unknown(r) {
			continue
		}
		if !by.Teaches() {
			label = "" // the model's own
		}
		rows, of = append(rows, events.NewEvidence(g.live.scores.logProb(r), label)), append(of, r)
	}
	if e.Photos, e.Best = len(files), it.ID; len(rows) == 0 {
		it.Unknown = e.Open > 0 && g.live.scored(members[0])
		return it
	}
	joint := events.Joint{Classes: g.live.scores.classes, Added: g.live.Predictor.Calibration.Added}
	for _, shown := range joint.Shown(rows) {
		e.Classes = append(e.Classes, shown.Class)
	}
	it.Top = classifier.FromLogProb(joint.Classes, joint.LogProb(rows), topClasses).TopK
	shows := of[best(rows, slices.Index(joint.Classes, e.Classes[0]))]
	e.Best, it.Novelty = g.photos[shows].ID, float64(g.live.scores.photos[shows].novelty)
	return it
}

// best returns the row that shows a class best, the first if the model does not know it.
func best(rows []events.Evidence, class int) (at int) {
	for i, r := range rows {
		if class >= 0 && r.LogProb[class] > rows[at].LogProb[class] {
			at = i
		}
	}
	return at
}

// firstOfEach leaves of every event the row that comes first.
func (g *gallery) firstOfEach(o order) (out order) {
	seen := map[int]bool{}
	for at, i := range o.rows {
		if k, ok := g.events.of[i]; ok && g.counts(i) {
			if seen[k] {
				continue
			}
			seen[k] = true
		}
		out.rows, out.keys = append(out.rows, i), append(out.keys, o.keys[at])
	}
	out.untimed, out.settles = o.untimed, o.settles
	return out
}
