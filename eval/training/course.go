package training

import (
	"path/filepath"
	"strconv"

	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/eval/table"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/chart"
)

// writeCourse writes training.csv.
func writeCourse(dir string, history []dkl.Epoch) error {
	number := func(v *float64) string {
		if v == nil {
			return table.None
		}
		return strconv.FormatFloat(*v, 'g', 8, 64)
	}
	t := table.Table{Header: []string{"epoch", "phase", "rate", "loss", "accuracy", "nll"}}
	for _, e := range history {
		t.Rows = append(t.Rows, []string{strconv.Itoa(e.Epoch), e.Phase, number(&e.Rate), number(&e.Loss), number(e.Accuracy), number(e.NLL)})
	}
	text, err := t.CSV()
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(dir, "training.csv"), text)
}

// draw writes the figures: one line for each phase.
func draw(dir string, history []dkl.Epoch) error {
	if len(history) < 2 {
		return nil
	}
	var loss, accuracy []chart.Series
	add := func(lines []chart.Series, e dkl.Epoch, value float64) []chart.Series {
		n := len(lines)
		if n == 0 || lines[n-1].Label != e.Phase {
			lines = append(lines, chart.Series{Label: e.Phase, Colour: chart.Palette(n), Bare: true})
		}
		l := &lines[len(lines)-1]
		l.X, l.Y = append(l.X, float64(e.Epoch)), append(l.Y, value)
		return lines
	}
	for _, e := range history {
		loss = add(loss, e, e.Loss)
		if e.Accuracy != nil {
			accuracy = add(accuracy, e, 100**e.Accuracy)
		}
	}
	err := chart.Lines("loss", chart.Axes{Title: "Training", X: "epoch", Y: "mean loss"}, loss).Write(dir)
	if err != nil || len(accuracy) == 0 {
		return err
	}
	return chart.Lines("training", chart.Axes{Title: "Held-out base examples", X: "epoch", Y: "accuracy in %"}, accuracy).Write(dir)
}
