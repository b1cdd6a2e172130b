package gpr

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gpr"
	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/method"
)

// A Curve is a measure step by step, one row for every run.
type Curve [][]float64

// mean and sem return those over the runs at step i.
func (c Curve) at(i int) (mean, sem float64) {
	v := make([]float64, len(c))
	for r, run := range c {
		v[r] = run[i]
	}
	return experiment.MeanSEM(v)
}

// A run is one draw of a figure.
type run struct {
	// GPR and NCM are accuracies on the test images of all classes.
	GPR []float64 `json:"gpr"`
	NCM []float64 `json:"ncm"`
	// Off is the largest difference in log-probability (nats) from a head
	// that learned everything at once.
	Off float64 `json:"off"`
}

// sessions of Fig. 3 bring a class each.
func (c Config) byClass(train [][]int) [][]int {
	var sessions [][]int
	for _, rows := range train {
		sessions = append(sessions, rows[:c.Examples])
	}
	return sessions
}

// sessions of Fig. 4 bring examples of all classes each.
func (c Config) byExamples(train [][]int) [][]int {
	var sessions [][]int
	for s := range c.Steps + 1 {
		first, last := 0, c.Start
		if s > 0 {
			first, last = c.Start+(s-1)*c.Step, c.Start+s*c.Step
		}
		var all []int
		for _, rows := range train {
			all = append(all, rows[first:last]...)
		}
		sessions = append(sessions, all)
	}
	return sessions
}

// follow takes both heads through the sessions.
func (c Config) follow(ctx context.Context, s experiment.Site, p pool, sessions [][]int, test experiment.Labelled) (run, error) {
	s.Heads = method.Change(s.Heads, "gpr", func(g *gpr.Config) { g.MaxPerClass, g.MaxTotal = c.most(), c.most()*c.Classes })
	var r run
	g, err := s.Head("gpr")
	if err != nil {
		return r, err
	}
	n, err := s.Head("ncm")
	if err != nil {
		return r, err
	}
	var all []int
	for _, rows := range sessions {
		all = append(all, rows...)
		more := p.train.Pick(rows)
		for _, h := range []struct {
			head classifier.Learner
			to   *[]float64
		}{{g, &r.GPR}, {n, &r.NCM}} {
			if err := h.head.Learn(ctx, more.X, more.Y); err != nil {
				return r, err
			}
			a, err := experiment.Accuracy(h.head, test)
			if err != nil {
				return r, err
			}
			*h.to = append(*h.to, a)
		}
		off, err := difference(ctx, s, g, p.train.Pick(all), test)
		if err != nil {
			return r, err
		}
		r.Off = max(r.Off, off)
	}
	return r, nil
}

// difference compares a head with one that learned the same at once.
func difference(ctx context.Context, s experiment.Site, h classifier.Learner, train, test experiment.Labelled) (float64, error) {
	once, err := s.Head("gpr")
	if err != nil {
		return 0, err
	}
	if err := once.Learn(ctx, train.X, train.Y); err != nil {
		return 0, err
	}
	a, err := logProbs(h, test)
	if err != nil {
		return 0, err
	}
	b, err := logProbs(once, test)
	if err != nil {
		return 0, err
	}
	column := map[string]int{}
	for j, class := range once.Classes() {
		column[class] = j
	}
	var worst float64
	for i := range a.Rows {
		for j, class := range h.Classes() {
			worst = max(worst, math.Abs(a.Data[i*a.Stride+j]-b.Data[i*b.Stride+column[class]]))
		}
	}
	return worst, nil
}

func logProbs(h classifier.Head, s experiment.Labelled) (blas64.General, error) {
	C := len(h.Classes())
	m := blas64.General{Rows: s.X.Rows, Cols: C, Stride: C, Data: make([]float64, s.X.Rows*C)}
	return m, h.Score(m, nil, s.X)
}
