package runner

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"

	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/research/fscil"
)

// classMap returns the map of one run: one row per class, session by session
// from the top, one column per session, accuracy as colour.
func classMap(r fscil.Result, run fscil.RunDetails) chart.Figure {
	title := fmt.Sprintf("Accuracy of every class · %s on %s", r.Name(), r.Dataset)
	axes := chart.Axes{Title: title, X: "after session", Y: "classes, by the session that brought them"}
	cells := classCells(run)
	high := vg.Length(min(max(4*len(cells.Rows), 180), 780))
	apart := 14 * len(cells.Rows) / int(high) // rows between numbers of sessions
	first, free := 0, 0
	for s, names := range run.Classes {
		if middle := first + len(names)/2; middle >= free {
			cells.Rows[middle], free = strconv.Itoa(s+1), middle+apart+1
		}
		first += len(names)
	}
	return chart.Heat("classes", axes, cells, 240, high)
}

// classCells returns the cells of a map without labels of its rows. Of many sessions only
// some have a label.
func classCells(run fscil.RunDetails) chart.Cells {
	sessions := len(run.ClassAccuracy)
	rows := len(slices.Concat(run.Classes...))
	cells := chart.Cells{
		Rows: make([]string, rows), Columns: make([]string, sessions), High: 1,
		Colours: chart.Gradient(64, [3]float64{255, 247, 236}, [3]float64{253, 187, 132}, [3]float64{199, 64, 60},
			[3]float64{72, 6, 34}),
		Bar: []string{"0 %", "25 %", "50 %", "75 %", "100 %"},
	}
	const labels = 12
	for s := range cells.Columns {
		if step := (sessions + labels - 1) / labels; (s+1)%step == 0 {
			cells.Columns[s] = strconv.Itoa(s + 1)
		}
	}
	for class := range rows {
		row := slices.Repeat([]float64{math.NaN()}, sessions)
		for s, known := range run.ClassAccuracy {
			if class < len(known) {
				row[s] = known[class]
			}
		}
		cells.Values = append(cells.Values, row)
	}
	return cells
}
