package checkpoint

import (
	"bytes"
	"encoding/csv"
	"path/filepath"
	"strconv"

	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/chart"
)

// table is training.csv.
func table(history []dkl.Epoch) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{{"epoch", "phase", "rate", "loss", "accuracy", "nll"}}
	for _, e := range history {
		rows = append(rows, []string{strconv.Itoa(e.Epoch), e.Phase, number(e.Rate), number(e.Loss), optional(e.Accuracy), optional(e.NLL)})
	}
	if err := w.WriteAll(rows); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }

func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return number(*v)
}

// draw writes the figures.
func draw(dir string, history []dkl.Epoch) error {
	if len(history) < 2 {
		return nil
	}
	loss := series(history, func(e dkl.Epoch) (float64, bool) { return e.Loss, true })
	accuracy := series(history, func(e dkl.Epoch) (float64, bool) {
		if e.Accuracy == nil {
			return 0, false
		}
		return 100 * *e.Accuracy, true
	})
	if err := write(dir, "loss", chart.Axes{Title: "Training", X: "epoch", Y: "mean loss"}, loss); err != nil || len(accuracy) == 0 {
		return err
	}
	return write(dir, "training", chart.Axes{Title: "Held-out base examples", X: "epoch", Y: "accuracy in %"}, accuracy)
}

// series is one line for each phase.
func series(history []dkl.Epoch, value func(dkl.Epoch) (float64, bool)) []chart.Series {
	var lines []chart.Series
	for _, e := range history {
		v, ok := value(e)
		if !ok {
			continue
		}
		if n := len(lines); n == 0 || lines[n-1].Label != e.Phase {
			lines = append(lines, chart.Series{Label: e.Phase, Colour: chart.Palette(n), Bare: true})
		}
		l := &lines[len(lines)-1]
		l.X, l.Y = append(l.X, float64(e.Epoch)), append(l.Y, v)
	}
	return lines
}

func write(dir, name string, a chart.Axes, lines []chart.Series) error {
	figure, err := chart.Lines(name, a, lines)
	if err != nil {
		return err
	}
	for _, format := range []string{"png", "svg"} {
		picture, err := figure.Encode(format)
		if err != nil {
			return err
		}
		if err := atomicfile.WriteFile(filepath.Join(dir, name+"."+format), picture); err != nil {
			return err
		}
	}
	return nil
}
