package teach

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/label"
)

// A View is a selection of photos in an order.
type View string

// The views.
const (
	All        View = "all"        // by name
	Check      View = "check"      // without a label and not unknown, the least certain first
	Novel      View = "unknown"    // without a label and like no class, the most novel first
	Suspicious View = "suspicious" // with a label that is probably wrong, the most doubtful first
	OfClass    View = "class"      // labelled or predicted as Class, those to look at first
	Typical    View = "start"      // typical photos, to name the first ones
	Accepted   View = "accepted"   // accepted in bulk, those accepted last first, and of these the least certain
)

// A Query selects photos. Zero fields select nothing away.
type Query struct {
	View  View
	Class string
	Group int
	// Of is the line that accepted the photos of Accepted, 0 for any.
	Of int
	// Text is part of the name, Folder the folder or one above it.
	Text, Folder string
	// File is the path of a photo, which selects it or its boxes.
	File string
	// Taken selects photos that a model which has not learned them takes for this class, but for those that are of it.
	Taken string
	// State selects photos by what was decided about them, Least and Most by the probability of their likeliest class.
	State       State
	Least, Most float64
	// Since and Until bound the time of change; Until is excluded.
	Since, Until time.Time
	// TakenSince and TakenUntil bound when it was taken, by the clock of the camera;
	// TakenUntil is excluded.
	TakenSince, TakenUntil time.Time
	// ByTime puts the photos in the order in which they were taken, those of which that is
	// not known last.
	ByTime bool
	// Event is the ID of a photo whose event is selected, in the order of time; Events has one
	// Item for each event, in the place of its first photo.
	Event  ID
	Events bool
	// Duplicates is the ID of a photo whose near-duplicates are selected, with it: those from the likeness Alike on,
	// 0 for UsualAlike.
	Duplicates ID
	Alike      float64
	// Decided selects photos with or without a decision.
	Decided *bool
	// After is Next of the page before, Limit the size of a page.
	After string
	Limit int
}

// A Page is a part of a view.
type Page struct {
	Items []Item
	Total int
	// Untimed photos tell no time, if the query asks for it: they are the last ones in the
	// order of time, and in no range of times.
	Untimed  int
	Next     string
	Revision int
}

// An order is a sorted view.
type order struct {
	rows    []int
	keys    []float64
	settles []float32 // of each photo of the folder, nil if nobody knows
	untimed int
}

// List returns a page of a view. A *Refusal reports a Query.Group that is forgotten.
func (s *Session) List(q Query) (Page, error) {
	after, err := parseCursor(q.After)
	if err != nil {
		return Page{}, err
	}
	if q.View == OfClass && q.Class == "" {
		return Page{}, refuse(Invalid, "the view class needs a class")
	}
	if q.View == Typical {
		s.chooseTypical()
	}
	if q.Events || q.Event != (ID{}) {
		s.findEvents()
	}
	if q.View == Check {
		s.compareIfAsked()
	}
	o := s.order(q)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if q.Group != 0 && s.groups.rows(q.Group) == nil {
		return Page{}, refuse(Conflict, "the groups have changed meanwhile: look again")
	}
	first := 0
	if after != nil {
		first, _ = slices.BinarySearchFunc(dense.Range(0, len(o.rows)), *after, func(i int, c cursor) int {
			return cmp.Or(cmp.Compare(o.keys[i], c.key), cmp.Compare(o.rows[i], c.row), -1) // the first one beyond
		})
	}
	last := min(first+q.Limit, len(o.rows))
	p := Page{Total: len(o.rows), Untimed: o.untimed, Revision: s.revision, Items: []Item{}}
	for _, i := range o.rows[first:last] {
		if q.Events {
			p.Items = append(p.Items, s.folded(i))
			continue
		}
		it := s.item(i)
		if o.settles != nil {
			it.Settles = float64(o.settles[i])
		}
		p.Items = append(p.Items, it)
	}
	if last < len(o.rows) && last > first {
		p.Next = cursor{o.keys[last-1], o.rows[last-1]}.String()
	}
	return p, nil
}

// A cursor is the last photo of a page, by its key and row.
type cursor struct {
	key float64
	row int
}

func (c cursor) String() string {
	b := binary.BigEndian.AppendUint64(nil, math.Float64bits(c.key))
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(b, uint64(c.row)))
}

func parseCursor(text string) (*cursor, error) {
	if text == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != 16 {
		return nil, refuse(Invalid, "the cursor is not one of this server")
	}
	return &cursor{math.Float64frombits(binary.BigEndian.Uint64(b)), int(binary.BigEndian.Uint64(b[8:]))}, nil
}

// name returns a text that tells queries apart that select other photos.
func (q Query) name() string {
	q.After, q.Limit = "", 0
	name := fmt.Sprintf("%+v", q)
	if q.Decided != nil {
		name = fmt.Sprintf("%s %v", name[:strings.LastIndex(name, "Decided:")], *q.Decided)
	}
	return name
}

// order returns the rows of a view; it keeps them until something changes.
func (s *Session) order(q Query) order {
	name := q.name()
	s.mu.RLock()
	o, ok := s.orders[name]
	revision := s.revision
	if !ok {
		o = s.sorted(q)
	}
	s.mu.RUnlock()
	if ok {
		return o
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	const most = 16 // orders of 100 000 photos
	if s.revision == revision {
		if len(s.orders) >= most {
			clear(s.orders)
		}
		s.orders[name] = o
	}
	return o
}

// sorted returns the rows of a view.
func (g *gallery) sorted(q Query) (o order) {
	text := strings.ToLower(q.Text)
	type entry struct {
		key float64
		row int
	}
	var entries []entry
	rows := g.rowsOf(q)
	if q.View == Check && !q.ByTime {
		o.settles = g.settling()
	}
	for at, i := range rows {
		if g.photos[i].Path == "" || !g.passes(q, i, text) {
			continue
		}
		key, ok := g.key(q, i)
		if !ok {
			continue
		}
		if o.settles != nil && key < 2 { // who is for later comes after all others
			key = -float64(o.settles[i])
		}
		if q.timed() {
			taken := g.taken(i)
			if taken.IsZero() {
				o.untimed++
			}
			if !q.within(taken) {
				continue
			}
			if q.ByTime {
				key = timeKey(taken)
			}
		}
		if q.Event != (ID{}) {
			key = float64(at) // the rows are in order
		}
		entries = append(entries, entry{key, i})
	}
	byName := q.View == All && !q.ByTime && q.Event == (ID{})
	dense.SortFunc(entries, func(a, b entry) int {
		switch {
		case byName:
			return strings.Compare(g.photos[a.row].Path, g.photos[b.row].Path)
		case a.key < b.key: // most pairs end here: cmp.Compare asks for NaN first
			return -1
		case a.key > b.key:
			return 1
		}
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.row, b.row))
	})
	o.rows, o.keys = make([]int, 0, len(entries)), make([]float64, 0, len(entries))
	for at, e := range entries {
		if byName {
			e.key = float64(at)
		}
		o.rows, o.keys = append(o.rows, e.row), append(o.keys, e.key)
	}
	if q.Events {
		o = g.firstOfEach(o)
	}
	return o
}

// rowsOf returns the photos among which a query selects.
func (g *gallery) rowsOf(q Query) []int {
	switch {
	case q.Group != 0:
		return g.groups.rows(q.Group)
	case q.Event != (ID{}):
		if i, ok := g.index[q.Event]; ok {
			return g.event(i)
		}
		return nil
	case q.Duplicates != (ID{}):
		i, ok := g.index[q.Duplicates]
		l := g.duplicates.at(q.Alike)
		if group, has := l.in[i]; ok && has {
			return l.rows[group]
		}
		return nil
	}
	return dense.Range(0, len(g.photos))
}

// passes reports whether photo i meets the conditions besides the view.
func (g *gallery) passes(q Query, i int, text string) bool {
	p := g.photos[i]
	folder := folderOf(p.Path)
	switch {
	case text != "" && !strings.Contains(strings.ToLower(nameOf(p.Path)), text):
		return false
	case q.File != "" && p.File() != q.File:
		return false
	case q.Folder != "" && folder != q.Folder && !strings.HasPrefix(folder, q.Folder+"/"):
		return false
	case !q.Since.IsZero() && p.Changed.Before(q.Since), !q.Until.IsZero() && !p.Changed.Before(q.Until):
		return false
	}
	if !g.answers(i, q.Decided) || q.State != "" && g.stateOf(i) != q.State || !g.probable(q, i) ||
		q.Taken != "" && !g.takenFor(q.Taken, i) {
		return false
	}
	if q.Class == "" {
		return true
	}
	label, by := g.label(i)
	if label == "" && !by.Aside() && g.live.scored(i) {
		label, _ = g.live.predicted(i)
	}
	return label == q.Class
}

// answers reports whether photo i has a decision, or may need one, as is asked; nil asks
// nothing.
func (g *gallery) answers(i int, asked *bool) bool {
	if asked == nil {
		return true
	}
	decided, open := g.decided(i)
	return *asked && decided || !*asked && open
}

// key returns by what photo i is sorted in a view, and whether it is in it.
func (g *gallery) key(q Query, i int) (float64, bool) {
	class, by := g.label(i)
	switch {
	case q.View == All:
		return 0, true
	case by == label.Skipped && q.View == Check && g.live.scored(i):
		return 2 + g.live.margin(i), true // after all others
	case by.Aside():
		return 0, false
	}
	switch q.View {
	case Accepted:
		seq, key := g.state.marks[g.photos[i].ID].seq, 0.0
		if g.live.scored(i) {
			key = float64(g.live.scores.photos[i].prob) / 2 // less than from one line to the next
		}
		return key - float64(seq), by == label.Bulk && (q.Of == 0 || q.Of == seq)
	case Typical:
		at, ok := g.typical.place[i]
		return float64(at), ok && class == ""
	case Check:
		if class != "" || !g.live.scored(i) {
			return 0, false
		}
		return g.live.margin(i), !g.live.unknown(i)
	case Novel:
		if class != "" || !g.live.scored(i) {
			return 0, false
		}
		return -float64(g.live.scores.photos[i].novelty), g.live.unknown(i)
	case Suspicious:
		rather, doubt := g.doubt(i, class, by)
		return -doubt, rather != ""
	}
	if !g.live.scored(i) {
		return 2, class != ""
	}
	key := float64(g.live.scores.photos[i].prob)
	if class != "" {
		key++
	}
	return key, true
}
