package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/eval/metrics"
)

// The plot area of the reliability diagram in SVG units.
const (
	plotLeft, plotTop, plotSide = 46.0, 12.0, 260.0
	largestDot                  = 11.0
)

// calibration is the reliability diagram and the table behind it.
type calibration struct {
	Line  string // SVG points
	Dots  []dot
	Ticks []tick
	Bins  []binRow
	ECE   string
}

type dot struct{ X, Y, R, Ideal, Text string }

type tick struct{ At, Flipped, Label string }

type binRow struct{ N, Confidence, Accuracy string }

func newCalibration(e *metrics.Report) calibration {
	c := calibration{ECE: percent(e.ECE), Ticks: ticks()}
	most := 0
	for _, b := range e.Reliability {
		most = max(most, b.N)
	}
	var line []string
	for _, b := range e.Reliability {
		if b.N == 0 {
			continue
		}
		d := newDot(b, most)
		c.Dots = append(c.Dots, d)
		c.Bins = append(c.Bins, binRow{count(b.N), percent(b.Confidence), percent(b.Accuracy)})
		line = append(line, d.X+","+d.Y)
	}
	c.Line = strings.Join(line, " ")
	return c
}

// newDot returns the dot of a bin; its area is proportional to the number of
// images.
func newDot(b metrics.Bin, most int) dot {
	return dot{
		X: coordinate(plotX(b.Confidence)), Y: coordinate(plotY(b.Accuracy)), Ideal: coordinate(plotY(b.Confidence)),
		R:    coordinate(max(2.5, largestDot*math.Sqrt(float64(b.N)/float64(most)))),
		Text: plural(b.N, "image", "images") + ": confidence " + percent(b.Confidence) + ", accuracy " + percent(b.Accuracy),
	}
}

func plotX(share float64) float64 { return plotLeft + plotSide*share }

func plotY(share float64) float64 { return plotTop + plotSide*(1-share) }

func coordinate(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

func ticks() []tick {
	var out []tick
	for i := range 5 {
		share := float64(i) / 4
		out = append(out, tick{coordinate(plotX(share)), coordinate(plotY(share)), strconv.Itoa(25*i) + "%"})
	}
	return out
}
