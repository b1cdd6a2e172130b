package report

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/label/metrics"
)

const worstPairs = 10

// confusion is the table of truth against prediction, formatted for the
// template.
type confusion struct {
	Columns []classHead
	Rows    []confusionRow // nil if there are too many classes
	Pairs   []pair
	Learned int // images that the model has learned
	// Linked is true if the page has pictures to show for a count.
	Linked bool
}

type classHead struct {
	Name string
	New  bool
}

type confusionRow struct {
	Head  classHead
	N     string
	Cells []confusionCell
}

// confusionCell has a heat class: d1–d5 on the diagonal, e1–e5 elsewhere.
type confusionCell struct {
	Count, Heat, Truth, Predicted string
}

// pair is a mistake and how often it happened.
type pair struct {
	Truth, Predicted string
	N                int
	Share            string
	share            float64
}

func newConfusion(e *metrics.Report, classes []Class) confusion {
	c := confusion{Pairs: mostConfused(e), Learned: e.NLearned}
	if len(e.Classes) > maxMatrixClasses {
		return c
	}
	isNew := newNames(classes)
	for i, name := range e.Classes {
		head := classHead{showName(name), isNew[name]}
		c.Columns = append(c.Columns, head)
		c.Rows = append(c.Rows, newConfusionRow(e, head, i))
	}
	return c
}

func newConfusionRow(e *metrics.Report, head classHead, i int) confusionRow {
	counts := e.Confusion[i]
	total := sum(slices.Values(counts))
	row := confusionRow{Head: head, N: count(total)}
	for j, n := range counts {
		cell := confusionCell{}
		if n > 0 {
			cell = confusionCell{Count: count(n), Heat: heat(float64(n)/float64(total), j == i), Truth: head.Name,
				Predicted: showName(e.Classes[j])}
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

// heat returns the CSS class of a share in (0, 1], one of five levels.
func heat(share float64, diagonal bool) string {
	level := strconv.Itoa(1 + min(4, int(share*5)))
	if diagonal {
		return "d" + level
	}
	return "e" + level
}

func sum(counts iter.Seq[int]) (total int) {
	for n := range counts {
		total += n
	}
	return total
}

// mostConfused lists the most frequent mistakes, by count, then by share.
func mostConfused(e *metrics.Report) []pair {
	var pairs []pair
	for i, row := range e.Confusion {
		total := float64(sum(slices.Values(row)))
		for j, n := range row {
			if i != j && n > 0 {
				share := float64(n) / total
				pairs = append(pairs, pair{showName(e.Classes[i]), showName(e.Classes[j]), n, percent(share), share})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(b.share, a.share))
	})
	return pairs[:min(len(pairs), worstPairs)]
}

// classBar is a row of the per-class table.
type classBar struct {
	Head           classHead
	N              string
	Accuracy, Wide string
	Known          bool // false if the class has no images
	n              int
	share          float64
}

// newClassBars returns the classes with the worst first; of equal ones, those
// with more images, and at the end those without.
func newClassBars(e *metrics.Report, classes []Class) []classBar {
	isNew := newNames(classes)
	var bars []classBar
	for _, c := range e.PerClass {
		b := classBar{Head: classHead{showName(c.Name), isNew[c.Name]}, N: count(c.N), Known: c.Accuracy != nil, n: c.N,
			share: 2}
		if b.Known {
			b.share = *c.Accuracy
			b.Accuracy, b.Wide = percent(b.share), barWidth(b.share)
		}
		bars = append(bars, b)
	}
	slices.SortStableFunc(bars,
		func(a, b classBar) int { return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(b.n, a.n)) })
	return bars
}

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
		R: coordinate(max(2.5, largestDot*math.Sqrt(float64(b.N)/float64(most)))),
		Text: plural(b.N, "image", "images") + ": confidence " + percent(b.Confidence) + ", accuracy " +
			percent(b.Accuracy),
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
