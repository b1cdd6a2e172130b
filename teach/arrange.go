package teach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/label/neighbours"
	"github.com/seed-90d10d51/pipeline/linalg"
)

const (
	// mapSide is the longer side of a Map.
	mapSide = 10_000
	// mostForAxes is the most photos from which the axes of a Map are computed.
	mostForAxes = 8192
	// flat is the variance along an axis, of embeddings of length 1, that is only rounding.
	flat = 1e-12
	// axesOfNear is the number of axes along which neighbours are looked for.
	axesOfNear = 64
	// likest is the number of neighbours that a photo is drawn near to, as in UMAP.
	likest = 15
	// MostArranged is the most photos that are arranged by their neighbours.
	MostArranged = 300_000
)

// An arranging is the work on the map and on near-duplicates.
type arranging struct {
	running bool
	stopped bool    // a person wants no arrangement
	wanted  bool    // somebody has looked at the map
	share   float64 // of the arrangement that is done
	stop    context.CancelFunc
	err     error // of the last time, until it has been told
}

// Arrange lets the map be arranged by neighbours, as it is from the beginning, or stops that:
// the photos are then where they are, or at their principal components.
func (s *Session) Arrange(yes bool) {
	s.mu.Lock()
	if s.arranging.stopped = !yes; !yes && s.arranging.stop != nil {
		s.arranging.stop()
	}
	s.mu.Unlock()
	s.options.Changed("map")
}

// arrangeIfDue begins to arrange the photos if that has not been done.
func (s *Session) arrangeIfDue() {
	l, reading := &s.layout, s.photo.Scanning
	due := l.due(len(s.photos), reading) ||
		!reading && (s.duplicates.n != l.n || !l.arranged && s.arranges(len(l.rows)))
	if due && !s.arranging.running && s.ctx.Err() == nil {
		s.arranging.running = true
		s.working.Go(s.arrange)
	}
}

// compareIfAsked begins to look for the photos that are alike, if questions are asked by that.
func (s *Session) compareIfAsked() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alikes.n != len(s.photos) && !s.photo.Scanning && s.asksByDoubt() {
		s.arrangeIfDue()
	}
}

// arranges reports whether n photos are to be arranged by their neighbours.
func (g *gallery) arranges(n int) bool {
	return n <= MostArranged && !g.arranging.stopped && g.arranging.wanted
}

// arrange computes the map, first by principal components, and near-duplicates.
func (s *Session) arrange() {
	err := s.arrangeAll()
	s.mu.Lock()
	s.arranging.running, s.arranging.share, s.arranging.stop = false, 0, nil
	if err != nil && s.ctx.Err() == nil {
		s.arranging.err = fmt.Errorf("map: %w", err)
	}
	s.mu.Unlock()
	s.options.Changed("map")
}

func (s *Session) arrangeAll() error {
	s.mu.RLock()
	next := layout{n: len(s.photos)}
	var ids []ID
	for i, p := range s.listed() {
		next.rows, ids = append(next.rows, i), append(ids, p.ID)
	}
	reading, shown := s.photo.Scanning, s.layout.arranged
	s.mu.RUnlock()
	// Names are hashes, so those that come first are a sample by chance, and the same one
	// whatever the order in which the photos were found.
	order := dense.Range(0, len(ids))
	slices.SortFunc(order, func(i, j int) int { return bytes.Compare(ids[i][:], ids[j][:]) })
	byID := make([]int, len(order))
	for k, at := range order {
		byID[k] = next.rows[at]
	}
	x, err := s.compressed(s.ctx, s.options.Backend, byID)
	if err != nil {
		return err
	}
	places := make([]float32, 2*len(order))
	for k := range order {
		copy(places[2*k:2*k+2], dense.Row32(x, k))
	}
	next.x, next.y = scaled(places, order)
	if !shown || reading {
		s.show(next)
	}
	if reading {
		return nil
	}
	graph, err := neighbours.Find(s.ctx, s.options.Backend, x, likest, 0, s.tell(0, 0.3))
	if err != nil {
		return err
	}
	copies, err := s.copies(graph, byID)
	if err != nil {
		return err
	}
	alikes := newLikeness(next.n, graph, byID)
	s.mu.Lock()
	copies.n, copies.looking = next.n, s.duplicates.looking
	s.duplicates, s.alikes = copies, alikes
	s.touch()
	wanted := s.arranges(len(order))
	ctx, stop := context.WithCancel(s.ctx)
	defer stop()
	s.arranging.stop = stop
	s.mu.Unlock()
	s.options.Changed("groups")
	if wanted {
		places, err = graph.Layout(ctx, places, 0, s.tell(0.3, 1))
	}
	switch {
	case wanted && err == nil:
		next.arranged = true
		next.x, next.y = scaled(places, order)
	case errors.Is(err, context.Canceled) && s.ctx.Err() == nil:
		err = nil // somebody has stopped it
	}
	if err == nil && (shown || next.arranged) {
		s.show(next)
	}
	return err
}

// show makes a layout that of the map.
func (s *Session) show(next layout) {
	s.mu.Lock()
	next.version = max(s.layout.version+1, int(s.options.Now().UnixMilli())) // another one after a restart
	s.layout = next
	s.mu.Unlock()
	s.options.Changed("map")
}

// tell returns a function that tells how far the arrangement is, from one share to another,
// no more often than a person can see.
func (s *Session) tell(from, to float64) func(share float64) {
	var last time.Time
	return func(share float64) {
		s.mu.Lock()
		s.arranging.share = from + share*(to-from)
		s.mu.Unlock()
		const pause = time.Second
		if now := time.Now(); now.Sub(last) >= pause {
			last = now
			s.options.Changed("status")
		}
	}
}

// compressed returns the coordinates of photos along their principal axes (at most 64), of
// their embeddings at length 1. Distances are then at most those of the embeddings. Cost:
// O(64·nd + min(n, 8192)·d²).
func (a *album) compressed(ctx context.Context, mul linalg.Backend, rows []int) (blas32.General, error) {
	solver := linalg.Solver{Backend: linalg.Until(ctx, mul), Float32: true}
	axes, err := a.axes(ctx, solver, rows[:min(len(rows), mostForAxes)])
	if err != nil {
		return blas32.General{}, err
	}
	out := dense.New32(len(rows), max(2, axes.Rows))
	err = blocks(ctx, 0, len(rows), func(first, last int) error {
		some, err := a.gather(rows[first:last])
		if err != nil {
			return err
		}
		v := make([]float64, some.Cols)
		for i := range some.Rows {
			classifier.Unit(v, dense.Row32(some, i))
			for k := range axes.Rows {
				dense.Row32(out, first+i)[k] = float32(dense.Dot(dense.Row(axes, k), v))
			}
		}
		return nil
	})
	return out, err
}

// axes returns the principal axes (at most 64×d) of some embeddings, scaled to length 1,
// without those along which they do not differ. O(nd²).
func (a *album) axes(ctx context.Context, solver linalg.Solver, chosen []int) (blas64.General, error) {
	d := a.x.Cols()
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
	e, err := solver.TopEigen(scatter, min(d, axesOfNear))
	if err != nil {
		return blas64.General{}, err
	}
	least := slices.IndexFunc(e.Values, func(v float64) bool { return v < flat })
	if least < 0 {
		least = len(e.Values)
	}
	return dense.Rows(e.Vectors, 0, least), nil
}

// scaled returns places (n×2) on a map whose longer side is mapSide: of photo order[k] the
// k-th.
func scaled(places []float32, order []int) (x, y []int) {
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for at, v := range places {
		k := at % 2
		low[k], high[k] = min(low[k], float64(v)), max(high[k], float64(v))
	}
	x, y = make([]int, len(order)), make([]int, len(order))
	side := max(high[0]-low[0], high[1]-low[1])
	if side <= 0 || len(order) == 0 {
		return x, y
	}
	for k, at := range order {
		x[at] = int(math.Round(mapSide * (float64(places[2*k]) - low[0]) / side))
		y[at] = int(math.Round(mapSide * (float64(places[2*k+1]) - low[1]) / side))
	}
	return x, y
}
