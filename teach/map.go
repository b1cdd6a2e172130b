package teach

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

const (
	// mapSide is the longer side of a Map.
	mapSide = 10_000
	// mostForAxes is the most photos from which the axes of a Map are computed.
	mostForAxes = 8192
	// flat is the variance along an axis, of embeddings of length 1, that is only rounding.
	flat = 1e-12
)

// A layout has the places of photos in two dimensions.
type layout struct {
	version int // 0 before the first
	n       int // photos of the album that it knows
	rows    []int
	x, y    []int // 0 to mapSide, of each of rows
	running bool
	err     error // of the last time, until it has been told
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
	// Computing reports that a newer layout is being computed.
	Computing bool
	Revision  int
}

// A Spot is what is known about a photo of a Map.
type Spot struct {
	// Class is that of its label, or else of its prediction, Rather one that is more probable
	// than its label; −1 for none.
	Class, Rather int
	By            By
	Unknown       bool
	// Probability is that of Class being right, NaN if nobody knows.
	Probability float64
	// Taken is when it was taken by the clock of its camera, in seconds since 1970 as if that
	// showed UTC; nil if that is not known.
	Taken *int64
	// Hidden photos are no longer in the folder, or are not selected by the query.
	Hidden bool
}

// Map returns the map as last computed, and begins to compute it if there are other photos.
// Of q it takes what selects photos by name, folder and time. Cost: O(n·C), once for n photos
// of d values O(nd + min(n, 8192)·d²) in the background.
func (s *Session) Map(q Query) (Map, error) {
	s.mu.Lock()
	l := &s.layout
	if err := l.err; err != nil {
		l.err = nil
		s.mu.Unlock()
		return Map{}, err
	}
	if !l.running && s.ctx.Err() == nil && l.due(len(s.photos), s.photo.Scanning) {
		l.running = true
		s.working.Go(s.place)
	}
	s.mu.Unlock()
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.chart(q), nil
}

// place computes the layout.
func (s *Session) place() {
	s.mu.RLock()
	n := len(s.photos)
	next := layout{n: n}
	ids := map[int]ID{}
	for i, p := range s.listed() {
		next.rows, ids[i] = append(next.rows, i), p.ID
	}
	s.mu.RUnlock()
	// Names are hashes, so those that come first are a sample by chance, and the same one
	// whatever the order in which the photos were found.
	first := slices.Clone(next.rows)
	slices.SortFunc(first, func(i, j int) int {
		a, b := ids[i], ids[j]
		return bytes.Compare(a[:], b[:])
	})
	solver := linalg.Solver{Backend: linalg.Until(s.ctx, linalg.OrDefault(s.options.Backend)), Float32: true}
	axes, err := s.album.axes(s.ctx, solver, first[:min(len(first), mostForAxes)])
	var places blas64.General
	if err == nil {
		places, err = s.project(s.ctx, axes, n)
	}
	if err == nil {
		next.x, next.y = scaled(places, next.rows)
	}
	s.mu.Lock()
	if s.layout.running = false; err == nil {
		next.version = max(s.layout.version+1, int(s.options.Now().UnixMilli())) // another one after a restart
		s.layout = next
	} else if s.ctx.Err() == nil {
		s.layout.err = fmt.Errorf("map: %w", err)
	}
	s.mu.Unlock()
	s.options.Changed("map")
}

// axes returns the two principal axes (at most 2×d) of some embeddings, scaled to length 1,
// without those along which they do not differ. O(nd²).
func (a *album) axes(ctx context.Context, solver linalg.Solver, chosen []int) (blas64.General, error) {
	d := a.x.cols
	mean, scatter := make([]float64, d), dense.New(d, d)
	const together = 1024 // bounds the memory
	for part := range slices.Chunk(chosen, together) {
		if err := ctx.Err(); err != nil {
			return blas64.General{}, err
		}
		rows, err := a.gather(part)
		if err != nil {
			return blas64.General{}, err
		}
		x := dense.New(rows.Rows, d)
		for i := range x.Rows {
			classifier.Unit(dense.Row(x, i), dense.Row32(rows, i))
			floats.AddScaled(mean, 1/float64(len(chosen)), dense.Row(x, i))
		}
		products, err := solver.Scatter(x)
		if err != nil {
			return blas64.General{}, err
		}
		floats.AddScaled(scatter.Data, 1/float64(len(chosen)), products.Data)
	}
	for i, m := range mean {
		floats.AddScaled(dense.Row(scatter, i), -m, mean)
	}
	e, err := solver.TopEigen(scatter, 2)
	if err != nil {
		return blas64.General{}, err
	}
	least := slices.IndexFunc(e.Values, func(v float64) bool { return v < flat })
	if least < 0 {
		least = len(e.Values)
	}
	return dense.Rows(e.Vectors, 0, least), nil
}

// project returns the coordinates (n×2) of the first n photos; 0 along an axis that there is
// not. O(nd).
func (a *album) project(ctx context.Context, axes blas64.General, n int) (blas64.General, error) {
	out := dense.New(n, 2)
	err := blocks(ctx, 0, n, func(first, last int) error {
		rows, err := a.x.read(first, last, nil)
		if err != nil {
			return err
		}
		x := make([]float64, rows.Cols)
		for i := range rows.Rows {
			classifier.Unit(x, dense.Row32(rows, i))
			for k := range axes.Rows {
				dense.Row(out, first+i)[k] = dense.Dot(dense.Row(axes, k), x)
			}
		}
		return nil
	})
	return out, err
}

// scaled returns the coordinates of some rows on a map whose longer side is mapSide.
func scaled(places blas64.General, rows []int) (x, y []int) {
	low, high := []float64{math.Inf(1), math.Inf(1)}, []float64{math.Inf(-1), math.Inf(-1)}
	for _, i := range rows {
		for k, v := range dense.Row(places, i) {
			low[k], high[k] = min(low[k], v), max(high[k], v)
		}
	}
	side := max(high[0]-low[0], high[1]-low[1])
	x, y = make([]int, len(rows)), make([]int, len(rows))
	if side <= 0 {
		return x, y
	}
	for at, i := range rows {
		p := dense.Row(places, i)
		x[at] = int(math.Round(mapSide * (p[0] - low[0]) / side))
		y[at] = int(math.Round(mapSide * (p[1] - low[1]) / side))
	}
	return x, y
}

// chart describes the photos of the layout.
func (g *gallery) chart(q Query) Map {
	l := g.layout
	m := Map{Version: l.version, X: l.x, Y: l.y, Computing: l.running, Revision: g.revision, Classes: []string{},
		IDs: make([]ID, len(l.rows)), Spots: make([]Spot, len(l.rows))}
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
	if by.aside() || !g.live.scored(i) {
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
