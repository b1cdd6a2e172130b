// Package grid holds what an experiment measured and turns it into tables and
// figures.
//
// A measurement has a place, a coordinate on each of some named axes, and the
// places of all measurements form a Grid. A table has a row for each combination
// of coordinates on some axes and a column for each coordinate on another one, or
// for each measure (Grid.Table); lines are the same with a measure over x
// (Grid.Lines). Both average over runs.
package grid

import (
	"fmt"
	"maps"
	"slices"
)

// A Place has a coordinate on each of its axes, such as {"q": "5", "λ": "auto"}.
type Place map[string]string

// At returns a place from names of axes and coordinates in turn.
func At(pairs ...any) Place {
	p := Place{}
	for i := 0; i < len(pairs); i += 2 {
		p[fmt.Sprint(pairs[i])] = fmt.Sprint(pairs[i+1])
	}
	return p
}

// And returns the place with further coordinates.
func (p Place) And(pairs ...any) Place {
	q := At(pairs...)
	maps.Copy(q, p)
	return q
}

// within reports whether p has all coordinates of q.
func (p Place) within(q Place) bool {
	for axis, v := range q {
		if own, ok := p[axis]; !ok || own != v {
			return false
		}
	}
	return true
}

// Values holds what one run measured, by the name of the measure.
type Values map[string]float64

// A Cell holds the measures at a place, with one value per run.
type Cell struct {
	At     Place                `json:"at"`
	Values map[string][]float64 `json:"values"`
}

// A Grid holds cells in the order in which they were added.
type Grid []Cell

// One returns a grid of what a run measured at one place.
func One(at Place, values Values) Grid {
	var g Grid
	g.Add(at, values)
	return g
}

// Add adds what a run measured at a place.
func (g *Grid) Add(at Place, values Values) {
	c := g.cell(at)
	for name, v := range values {
		c.Values[name] = append(c.Values[name], v)
	}
}

// Set gives a measure at a place its values of all runs.
func (g *Grid) Set(at Place, measure string, values []float64) { g.cell(at).Values[measure] = values }

// Join adds the runs of another grid.
func (g *Grid) Join(other Grid) {
	for _, c := range other {
		to := g.cell(c.At)
		for name, values := range c.Values {
			to.Values[name] = append(to.Values[name], values...)
		}
	}
}

// cell returns the cell at exactly that place, a new one if there is none.
func (g *Grid) cell(at Place) *Cell {
	i := slices.IndexFunc(*g, func(c Cell) bool { return maps.Equal(c.At, at) })
	if i < 0 {
		i = len(*g)
		*g = append(*g, Cell{At: at, Values: map[string][]float64{}})
	}
	return &(*g)[i]
}

// Where returns the cells with all the given coordinates.
func (g Grid) Where(at Place) Grid {
	return slices.DeleteFunc(slices.Clone(g), func(c Cell) bool { return !c.At.within(at) })
}

// Values returns a measure of the first cell that has it and all the given
// coordinates; nil if there is none.
func (g Grid) Values(at Place, measure string) []float64 {
	for _, c := range g {
		if values, ok := c.Values[measure]; ok && c.At.within(at) {
			return values
		}
	}
	return nil
}

// Axis returns the coordinates on an axis, each once.
func (g Grid) Axis(name string) []string {
	var all []string
	for _, p := range g.places([]string{name}) {
		all = append(all, p[name])
	}
	return all
}

// places returns every combination of coordinates on some axes, each once.
// Cells without one of the axes are left out.
func (g Grid) places(axes []string) []Place {
	var all []Place
	for _, c := range g {
		p := Place{}
		for _, a := range axes {
			if v, ok := c.At[a]; ok {
				p[a] = v
			}
		}
		if len(p) == len(axes) && !slices.ContainsFunc(all, func(q Place) bool { return maps.Equal(p, q) }) {
			all = append(all, p)
		}
	}
	return all
}
