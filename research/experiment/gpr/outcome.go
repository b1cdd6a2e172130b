package gpr

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/table"
)

func (c Config) outcome(r Results) experiment.Outcome {
	o := experiment.Outcome{Title: "Incremental Gaussian process regression", Results: r}
	if r.Toy != nil {
		c.addToy(&o, *r.Toy)
	}
	if len(r.Timings) > 0 {
		c.addTimings(&o, r.Timings)
	}
	if r.Classes != nil {
		addAccuracies(&o, *r.Classes, "classes", "classes known", fmt.Sprintf("%d examples per class", c.Examples),
			sequence(1, 1, c.Classes))
		addAccuracies(&o, *r.Examples, "examples", "examples per class", fmt.Sprintf("%d classes", c.Classes),
			sequence(c.Start, c.Step, c.Steps+1))
	}
	return o
}

// A way is one of the ways to reach the same state; Fig. 2 has one line for
// each.
type way struct {
	name string
	of   func(Timing) float64
}

func (c Config) addTimings(o *experiment.Outcome, timings []Timing) {
	ways := []way{
		{"batch", func(t Timing) float64 { return t.Batch }},
		{"iterative", func(t Timing) float64 { return t.Iterative }},
		{"direct", func(t Timing) float64 { return t.Direct }},
		{"cholesky", func(t Timing) float64 { return t.Cholesky }},
	}
	t := table.Table{
		Name: "time", Title: "Time to add k examples to n (Fig. 2)",
		Note: "Milliseconds on this machine; they vary from run to run. batch is a fit of n+k: kernel matrix, " +
			"Cholesky factor, weights. gain is batch over the fastest update.",
		Header: []string{"n", "k", "batch", "iterative", "direct", "cholesky", "gain"},
	}
	for _, m := range timings {
		row := []string{strconv.Itoa(m.N), strconv.Itoa(m.K)}
		for _, w := range ways {
			row = append(row, fmt.Sprintf("%.3g", 1e3*w.of(m)))
		}
		t.Add(append(row, fmt.Sprintf("%.3g", m.speedUp()))...)
	}
	o.Tables = append(o.Tables, t)
	for _, n := range c.N {
		o.Findings = append(o.Findings, overtaking(n, timings))
	}
	best := slices.MaxFunc(timings, func(a, b Timing) int { return cmp.Compare(a.speedUp(), b.speedUp()) })
	o.Findings = append(o.Findings,
		fmt.Sprintf("Largest gain: %.3g times, n = %d, k = %d.", best.speedUp(), best.N, best.K))
	largest := slices.Max(c.N)
	for _, f := range []struct {
		name, title, x string
		drawn          func(Timing) bool
		at             func(Timing) int
	}{
		{"fig2_k", fmt.Sprintf("GP regression, time to add k examples to n = %d", largest), "examples added k",
			func(t Timing) bool { return t.N == largest }, func(t Timing) int { return t.K }},
		{"fig2_n", fmt.Sprintf("GP regression, time to add k = %d to n examples", c.K[0]), "examples n",
			func(t Timing) bool { return t.K == c.K[0] }, func(t Timing) int { return t.N }},
	} {
		var lines []chart.Series
		for i, w := range ways {
			s := chart.Series{Label: w.name, Colour: chart.Palette(i)}
			for _, t := range timings {
				if f.drawn(t) {
					s.X, s.Y = append(s.X, float64(f.at(t))), append(s.Y, w.of(t))
				}
			}
			lines = append(lines, s)
		}
		o.Figures = append(o.Figures,
			chart.Lines(f.name, chart.Axes{Title: f.title, X: f.x, Y: "seconds", LogX: true, LogY: true}, lines))
	}
}

// overtaking returns a sentence that says from which k on direct is faster than
// iterative.
func overtaking(n int, timings []Timing) string {
	from := 0
	for _, t := range slices.Backward(timings) {
		if t.N != n {
			continue
		}
		if t.Direct > t.Iterative {
			break
		}
		from = t.K
	}
	if from == 0 {
		return fmt.Sprintf("n = %d: direct is not faster than iterative at the largest k.", n)
	}
	return fmt.Sprintf("n = %d: direct is at least as fast as iterative from k = %d on.", n, from)
}

func addAccuracies(o *experiment.Outcome, a Accuracies, name, x, title string, at []int) {
	figure := map[string]string{"classes": "fig3", "examples": "fig4"}[name]
	t := table.Table{
		Name: name, Title: "Accuracy by " + x + ", " + title + " (Fig. " + figure[3:] + ")",
		Note: "Percent on test images of all classes, including those not yet learned; mean over runs ± standard " +
			"error.",
		Header: []string{x, "gpr", "ncm"},
	}
	lines := []chart.Series{{Label: "gpr", Colour: chart.Palette(0)}, {Label: "ncm", Colour: chart.Palette(1)}}
	for i, step := range at {
		row := []string{strconv.Itoa(step)}
		for j, c := range []Curve{a.GPR, a.NCM} {
			mean, sem := table.MeanSEM(c.at(i))
			row = append(row, table.PlusMinus(mean, sem))
			lines[j].X = append(lines[j].X, float64(step))
			lines[j].Y, lines[j].Band = append(lines[j].Y, 100*mean), append(lines[j].Band, 100*sem)
		}
		t.Add(row...)
	}
	o.Tables = append(o.Tables, t)
	o.Findings = append(o.Findings,
		fmt.Sprintf("Fig. %s: learning step by step and learning all at once differ by at most %.1g nats.", figure[3:],
			a.Off))
	o.Figures = append(o.Figures, chart.Lines(figure,
		chart.Axes{Title: "GP regression, accuracy on all classes · " + title, X: x, Y: "accuracy (%)"}, lines))
}

// sequence returns n numbers, a step apart.
func sequence(from, step, n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = from + i*step
	}
	return numbers
}
