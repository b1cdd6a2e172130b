package vargp

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/gp/vargp"
	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/research/experiment"
)

// reach is half the side of the square shown in pictures of the toy.
const reach = 3

// addPictures draws the toy of the first run: probabilities of each class after
// each task (Figs. 1 and 7), and the learned inducing inputs (Fig. 4).
func (r runner) addPictures(o *experiment.Outcome, runs [][]step) error {
	if r.Data != Toy {
		return nil
	}
	for i, v := range r.Variants {
		var density []chart.Row
		var places []chart.Panel
		for task, step := range runs[i*r.Seeds] {
			m, lp, err := r.drawn(v, step)
			if err != nil {
				return err
			}
			row, err := r.densities(lp, step, task)
			if err != nil {
				return err
			}
			label := fmt.Sprintf("after task %d", task+1)
			density = append(density, chart.Row{Label: label, Panels: row})
			if m != nil {
				places = append(places, r.places(lp, m, task, label))
			}
		}
		o.Figures = append(o.Figures,
			chart.Panels("density_"+string(v), fmt.Sprintf("Probability of each class, %s · toy", v), -reach, reach,
				[]string{"0", "0.5", "1"}, density))
		if len(places) == 0 {
			continue
		}
		o.Figures = append(o.Figures,
			chart.Panels("inducing_"+string(v), fmt.Sprintf("Entropy and inducing inputs, %s · toy", v), -reach, reach,
				[]string{"0", "0.5", "1"}, []chart.Row{{Panels: places}}))
	}
	return nil
}

// drawn returns the model after a step, nil for a neural network, and its predictions
// on the grid.
func (r runner) drawn(v vargp.Variant, s step) (*vargp.Model, blas64.General, error) {
	if s.Network != nil {
		x := experiment.Plane(r.Grid, reach)
		lp := dense.New(x.Rows, r.classesInAll())
		return nil, lp, logProbOf(s.Network, r.env.Seed)(lp, x)
	}
	m, err := vargp.Restore(r.model(v, r.env.Seed), 2, s.Model)
	if err != nil {
		return nil, blas64.General{}, err
	}
	lp, err := r.onGrid(m)
	return m, lp, err
}

// onGrid returns log-probabilities at the points of the square, lowest row
// first.
func (c Config) onGrid(m *vargp.Model) (blas64.General, error) {
	x := experiment.Plane(c.Grid, reach)
	lp := dense.New(x.Rows, m.Heads())
	q, err := m.Predictor()
	if err != nil {
		return lp, err
	}
	return lp, q.LogProb(lp, x)
}

// densities returns the panels after a task. Unseen classes show the
// probability of the head for "none of these".
func (r runner) densities(lp blas64.General, now step, task int) ([]chart.Panel, error) {
	var row []chart.Panel
	for class, h := range now.Heads {
		title := fmt.Sprintf("class %d", class)
		if h < 0 {
			h, title = 0, title+" (unseen)"
		}
		p := chart.Panel{Title: title,
			Side: r.Grid, Value: func(at int) float64 { return math.Exp(lp.Data[at*lp.Stride+h]) }}
		if class/r.Classes <= task {
			l, err := r.src.at(0, class/r.Classes)
			if err != nil {
				return nil, err
			}
			dots := chart.Points{Colour: color.NRGBA{220, 60, 60, 255}}
			for i, k := range l.train.y {
				if k == class {
					dots.XY = append(dots.XY, [2]float64{l.train.x.Data[2*i], l.train.x.Data[2*i+1]})
				}
			}
			p.Points = append(p.Points, dots)
		}
		row = append(row, p)
	}
	return row, nil
}

// places returns a panel of the entropy with the inducing inputs of each task.
func (c Config) places(lp blas64.General, m *vargp.Model, task int, title string) chart.Panel {
	most := math.Log(float64(m.Heads()))
	p := chart.Panel{
		Title: title,
		Side:  c.Grid,
		Value: func(at int) float64 { return classifier.Entropy(dense.Row(lp, at)) / most },
	}
	blocks := m.Inputs(0)
	for t, z := range blocks {
		of := t + task + 1 - len(blocks) // Global keeps the last
		ring := chart.Points{Colour: []color.NRGBA{{220, 60, 60, 255}, {255, 255, 255, 255}, {0, 0, 0, 255}}[of%3],
			Ring: true}
		for i := range z.Rows {
			ring.XY = append(ring.XY, [2]float64{z.Data[i*z.Stride], z.Data[i*z.Stride+1]})
		}
		p.Points = append(p.Points, ring)
	}
	return p
}
