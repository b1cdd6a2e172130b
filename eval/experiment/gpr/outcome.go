package gpr

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"

	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/internal/chart"
)

func (c Config) outcome(r Results) (experiment.Outcome, error) {
	o := experiment.Outcome{Title: "Incremental Gaussian process regression", Results: r}
	if len(r.Timings) > 0 {
		if err := c.addTimings(&o, r.Timings); err != nil {
			return o, err
		}
	}
	if r.Classes != nil {
		known := make([]int, c.Classes)
		for i := range known {
			known[i] = i + 1
		}
		if err := addAccuracies(&o, *r.Classes, "classes", "classes known", fmt.Sprintf("%d examples a class", c.Examples), known); err != nil {
			return o, err
		}
		shots := make([]int, c.Steps+1)
		for i := range shots {
			shots[i] = c.Start + i*c.Step
		}
		if err := addAccuracies(&o, *r.Examples, "examples", "examples a class", fmt.Sprintf("%d classes", c.Classes), shots); err != nil {
			return o, err
		}
	}
	return o, nil
}

// ways are the lines of Fig. 2.
func ways() []struct {
	name string
	of   func(Timing) float64
} {
	return []struct {
		name string
		of   func(Timing) float64
	}{
		{"batch", func(t Timing) float64 { return t.Batch }}, {"iterative", func(t Timing) float64 { return t.Iterative }},
		{"direct", func(t Timing) float64 { return t.Direct }}, {"cholesky", func(t Timing) float64 { return t.Cholesky }},
	}
}

func (c Config) addTimings(o *experiment.Outcome, timings []Timing) error {
	t := experiment.Table{
		Name: "time", Title: "Time to add k examples to n (Fig. 2)",
		Note:   "Milliseconds on this machine; they differ from run to run. batch is a fit of n+k: kernel matrix, Cholesky factor, weights. The gain is that of the fastest update.",
		Header: []string{"n", "k", "batch", "iterative", "direct", "cholesky", "gain"},
	}
	for _, m := range timings {
		row := []string{strconv.Itoa(m.N), strconv.Itoa(m.K)}
		for _, w := range ways() {
			row = append(row, fmt.Sprintf("%.3g", 1e3*w.of(m)))
		}
		t.Rows = append(t.Rows, append(row, fmt.Sprintf("%.3g", m.speedUp())))
	}
	o.Tables = append(o.Tables, t)
	largest := slices.Max(c.N)
	for _, n := range c.N {
		o.Findings = append(o.Findings, overtaking(n, timings))
	}
	best := timings[0]
	for _, m := range timings {
		if m.speedUp() > best.speedUp() {
			best = m
		}
	}
	o.Findings = append(o.Findings, fmt.Sprintf("Largest gain: %.3g times, n = %d, k = %d.", best.speedUp(), best.N, best.K))
	for _, f := range []struct {
		name, title, x string
		keep           func(Timing) bool
		at             func(Timing) int
	}{
		{"fig2_k", fmt.Sprintf("Time to add k examples to n = %d", largest), "examples added k", func(t Timing) bool { return t.N == largest }, func(t Timing) int { return t.K }},
		{"fig2_n", fmt.Sprintf("Time to add k = %d to n examples", c.K[0]), "examples n", func(t Timing) bool { return t.K == c.K[0] }, func(t Timing) int { return t.N }},
	} {
		figure, err := logLog(f.name, chart.Axes{Title: f.title, X: f.x, Y: "seconds"}, timings, f.keep, f.at)
		if err != nil {
			return err
		}
		o.Figures = append(o.Figures, figure)
	}
	return nil
}

// overtaking says from which k on direct is faster than iterative.
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

// logLog draws one line for each way to the same state.
func logLog(name string, axes chart.Axes, timings []Timing, keep func(Timing) bool, at func(Timing) int) (chart.Figure, error) {
	var lines []chart.Series
	var low, high float64
	for i, w := range ways() {
		s := chart.Series{Label: w.name, Colour: chart.Palette(i)}
		for _, t := range timings {
			if keep(t) {
				s.X, s.Y = append(s.X, math.Log10(float64(at(t)))), append(s.Y, math.Log10(w.of(t)))
			}
		}
		low, high = min(low, slices.Min(s.Y)), max(high, slices.Max(s.Y))
		lines = append(lines, s)
	}
	figure, err := chart.Lines(name, axes, lines)
	if err != nil {
		return figure, err
	}
	figure.Plot.X.Tick.Marker, figure.Plot.Y.Tick.Marker = decades(slices.Max(lines[0].X)), decades(high)
	return figure, nil
}

// decades are ticks at 1 … 9 times powers of ten, for axes that hold decimal
// logarithms up to most. Powers have labels, and 2 and 5 times them where the
// axis is short.
func decades(most float64) plot.Ticker {
	return plot.TickerFunc(func(low, _ float64) []plot.Tick {
		var ticks []plot.Tick
		for d := math.Floor(low); d <= most; d++ {
			for m := 1; m <= 9; m++ {
				tick := plot.Tick{Value: d + math.Log10(float64(m))}
				if m == 1 || most-low < 1.5 && (m == 2 || m == 5) {
					tick.Label = strconv.FormatFloat(float64(m)*math.Pow(10, d), 'f', -1, 64)
				}
				if tick.Value >= low && tick.Value <= most+1e-9 {
					ticks = append(ticks, tick)
				}
			}
		}
		return ticks
	})
}

func addAccuracies(o *experiment.Outcome, a Accuracies, name, x, title string, steps []int) error {
	figure := map[string]string{"classes": "fig3", "examples": "fig4"}[name]
	t := experiment.Table{
		Name: name, Title: "Accuracy by " + x + ", " + title + " (Fig. " + figure[3:] + ")",
		Note:   "Percent on test images of all classes, also those to come; mean over runs ± standard error.",
		Header: []string{x, "gpr", "ncm"},
	}
	ticks := make([]string, len(steps))
	lines := []chart.Series{{Label: "gpr", Colour: chart.Palette(0)}, {Label: "ncm", Colour: chart.Palette(1)}}
	for i, step := range steps {
		ticks[i] = strconv.Itoa(step)
		row := []string{ticks[i]}
		for j, c := range []Curve{a.GPR, a.NCM} {
			mean, sem := c.at(i)
			row = append(row, fmt.Sprintf("%s ± %s", experiment.Percent(mean), experiment.Percent(sem)))
			lines[j].Y, lines[j].Band = append(lines[j].Y, 100*mean), append(lines[j].Band, 100*sem)
		}
		t.Rows = append(t.Rows, row)
	}
	o.Tables = append(o.Tables, t)
	o.Findings = append(o.Findings, fmt.Sprintf("Fig. %s: learning step by step and at once differ by at most %.1g nats.", figure[3:], a.Off))
	drawn, err := chart.Lines(figure, chart.Axes{Title: "Accuracy on all classes · " + title, X: x, Y: "accuracy (%)", Ticks: ticks}, lines)
	o.Figures = append(o.Figures, drawn)
	return err
}
