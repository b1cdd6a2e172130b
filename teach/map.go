package teach

import (
	"math"
	"strings"

	"github.com/seed-90d10d51/pipeline/label"
)

// A layout has the places of photos in two dimensions.
type layout struct {
	version int // 0 before the first
	n       int // photos of the album that it knows
	rows    []int
	x, y    []int // 0 to mapSide, of each of rows
	// arranged reports that photos are near their neighbours, not at their principal
	// components.
	arranged bool
}

// due reports whether n photos need a new layout. While a folder is being read one is made
// whenever there are a quarter more: all of them cost five times the last one.
func (l *layout) due(n int, reading bool) bool {
	return n != l.n && (!reading || float64(n) >= growth*float64(l.n))
}

// A Map has a place for each photo, and what is known about it: value i of every column is
// of photo i. Photos that are alike are near each other.
type Map struct {
	// Version is the number of the layout, 0 before the first: with it, photos and places are
	// the same.
	Version int
	IDs     []ID
	X, Y    []int // the longer side of the map is 0 to 10 000
	Spots   []Spot
	Classes []string // to which Spot refers
	// Arranged reports that each photo is near those most like it; before, the places are the
	// principal components of the embeddings. TooMany reports that they stay there.
	Arranged, TooMany bool
	// Computing reports that a newer layout is being computed, Stopped that a person has
	// stopped the arrangement.
	Computing, Stopped bool
	Revision           int
}

// A Spot is what is known about a photo of a Map.
type Spot struct {
	// Class is that of its label, or else of its prediction, Rather one that is more probable
	// than its label; −1 for none.
	Class, Rather int
	By            label.By
	Unknown       bool
	// Probability is that of Class being right, NaN if nobody knows.
	Probability float64
	// Taken is when it was taken by the clock of its camera, in seconds since 1970 as if that
	// showed UTC; nil if that is not known.
	Taken *int64
	// Hidden photos are no longer in the folder, or are not selected by the query.
	Hidden bool
}

// Map returns the map as last computed, and begins to compute it if there are other photos:
// first the principal components of their embeddings, and once the folder has been read an
// arrangement in which each photo is near those most like it (package neighbours). Of q it
// takes what selects photos by name, folder and time. Cost: O(n·C), once for n photos of d
// values O(nd + min(n, 8192)·d²) in the background, and for the arrangement O(n).
func (s *Session) Map(q Query) (Map, error) {
	s.mu.Lock()
	if err := s.arranging.err; err != nil {
		s.arranging.err = nil
		s.mu.Unlock()
		return Map{}, err
	}
	s.arranging.wanted = true
	s.arrangeIfDue()
	s.mu.Unlock()
	s.mu.RLock()
	defer s.mu.RUnlock()
	m := s.chart(q)
	m.Computing, m.Stopped = s.arranging.running, s.arranging.stopped
	return m, nil
}

// chart describes the photos of the layout.
func (g *gallery) chart(q Query) Map {
	l := g.layout
	m := Map{Version: l.version, X: l.x, Y: l.y, Arranged: l.arranged, TooMany: len(l.rows) > MostArranged,
		Revision: g.revision, Classes: []string{}, IDs: make([]ID, len(l.rows)), Spots: make([]Spot, len(l.rows))}
	of := map[string]int{}
	class := func(name string) int {
		if name == "" {
			return -1
		}
		at, ok := of[name]
		if !ok {
			at, of[name] = len(of), len(of)
			m.Classes = append(m.Classes, name)
		}
		return at
	}
	for at, i := range l.rows {
		m.IDs[at] = g.photos[i].ID
		m.Spots[at] = g.spot(i, class)
		m.Spots[at].Hidden = !g.selects(q, i)
	}
	return m
}

// selects reports whether photo i is in the folder and meets a query, apart from its view.
func (g *gallery) selects(q Query, i int) bool {
	return g.photos[i].Path != "" && g.passes(q, i, strings.ToLower(q.Text)) && (!q.timed() || q.within(g.taken(i)))
}

// spot describes photo i; class numbers the classes.
func (g *gallery) spot(i int, class func(name string) int) Spot {
	label, by := g.label(i)
	s := Spot{Class: class(label), Rather: -1, By: by, Probability: math.NaN()}
	if taken := g.taken(i); !taken.IsZero() {
		s.Taken = new(taken.Unix())
	}
	if by.Aside() || !g.live.scored(i) {
		return s
	}
	if label == "" {
		name, probability := g.live.predicted(i)
		s.Class, s.Unknown, s.Probability = class(name), g.live.unknown(i), probability
		return s
	}
	rather, _ := g.doubt(i, label, by)
	s.Rather, s.Probability = class(rather), 1-g.wrong(i, label, by)
	return s
}
