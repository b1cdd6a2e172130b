package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// census counts all predictions of a run: 12 bytes for each.
type census struct {
	groups map[string]int
	known  map[string]bool
	rows   []counted
}

// counted is what the distributions need of a prediction.
type counted struct {
	confidence, novelty float32
	fate                fate
}

// fate says how a prediction ended, whether or not it was rejected.
type fate uint8

const (
	untold  fate = iota // the truth is not known
	correct             // labelled with its class
	wrong               // labelled with another class
	unknown             // of a class that the model does not have
	fates   = iota
)

// style returns the CSS class that colours the fate.
func (f fate) style() string { return [fates]string{"all", "right", "wrong", "other"}[f] }

func newCensus(classes []Class) *census {
	c := &census{groups: map[string]int{}, known: map[string]bool{}}
	for _, class := range classes {
		c.known[class.Name] = true
	}
	return c
}

func (c *census) add(group string, q Prediction) {
	c.groups[group]++
	f := wrong
	switch {
	case q.Truth == "":
		f = untold
	case q.Truth == q.Predicted:
		f = correct
	case !c.known[q.Truth]:
		f = unknown
	}
	c.rows = append(c.rows, counted{float32(q.Probability), float32(q.Novelty), f})
}

// A histogram is stacked bars over a scale, in SVG units.
type histogram struct {
	Bars   []stacked
	XTicks []tick
	YTicks []tick
	// Mark is where the threshold stands, "" without one.
	Mark, MarkText string
	Legend         []legend
	Caption        string
}

// stacked is one part of a bar.
type stacked struct{ X, Y, Width, Height, Style, Text string }

type legend struct{ Style, Text string }

// The plot area of the histograms in SVG units.
const (
	histLeft, histTop, histWidth, histHeight = 46.0, 16.0, 340.0, 180.0
)

// newHistogram draws counts, one row of fates per bin; names are those of the
// fates in the legend, edge returns the text of the lower edge of a bin.
func newHistogram(bins [][fates]int, names [fates]string, edge func(int) string) *histogram {
	highest, totals := 0, [fates]int{}
	for _, bin := range bins {
		highest = max(highest, sum(slices.Values(bin[:])))
		for f, n := range bin {
			totals[f] += n
		}
	}
	if highest == 0 {
		return nil
	}
	h := &histogram{}
	width := histWidth / float64(len(bins))
	for i, bin := range bins {
		y := histTop + histHeight
		for f, n := range bin {
			if n == 0 {
				continue
			}
			height := histHeight * float64(n) / float64(highest)
			y -= height
			h.Bars = append(h.Bars, stacked{
				X: coordinate(histLeft + width*float64(i) + 0.5), Y: coordinate(y), Width: coordinate(width - 1),
				Height: coordinate(height), Style: fate(f).style(),
				Text: edge(i) + " to " + edge(i+1) + ": " + plural(n, "image", "images") + " " + names[f],
			})
		}
	}
	for f, n := range totals {
		if n > 0 && n < sum(slices.Values(totals[:])) {
			h.Legend = append(h.Legend, legend{fate(f).style(), count(n) + " " + names[f]})
		}
	}
	for _, n := range []int{0, highest / 2, highest} {
		h.YTicks = append(h.YTicks,
			tick{At: coordinate(histTop + histHeight*(1-float64(n)/float64(highest))), Label: count(n)})
	}
	h.YTicks = slices.Compact(h.YTicks)
	return h
}

func (h *histogram) tickX(share float64, text string) {
	h.XTicks = append(h.XTicks, tick{At: coordinate(histLeft + histWidth*share), Label: text})
}

// confidencePlot shows how sure the labels are, and, if their truth is known,
// how right the surest of them are.
type confidencePlot struct {
	Histogram *histogram
	// Curve is accuracy against coverage in SVG points, "" without truth.
	Curve   string
	XTicks  []tick
	YTicks  []tick
	Choices []choice
}

// choice is what labelling only the surest images would give.
type choice struct{ Accuracy, Coverage, Confidence string }

const confidenceBins = 20

// newConfidencePlot returns nil if there is nothing to show.
func newConfidencePlot(c *census) *confidencePlot {
	bins := make([][fates]int, confidenceBins)
	var judged []counted
	for _, row := range c.rows {
		if p := float64(row.confidence); isNumber(p) {
			bins[min(confidenceBins-1, max(0, int(p*confidenceBins)))][row.fate]++
			if row.fate == correct || row.fate == wrong {
				judged = append(judged, row)
			}
		}
	}
	names := [fates]string{"without known truth", "right", "wrong", "of a class that the model does not have"}
	h := newHistogram(bins, names, func(i int) string { return strconv.Itoa(100*i/confidenceBins) + "%" })
	if h == nil {
		return nil
	}
	for i := range 5 {
		h.tickX(float64(i)/4, strconv.Itoa(25*i)+"%")
	}
	h.Caption = "Photos by confidence"
	plot := &confidencePlot{Histogram: h}
	plot.drawCoverage(judged)
	return plot
}

// drawCoverage sorts the rows by confidence and follows the accuracy of the
// surest of them. Rows of equal confidence are taken together.
func (p *confidencePlot) drawCoverage(rows []counted) {
	if len(rows) == 0 {
		return
	}
	slices.SortFunc(rows, func(a, b counted) int { return cmp.Compare(b.confidence, a.confidence) })
	goals := []float64{0.9, 0.95, 0.98, 0.99, 0.999}
	reached := make([]choice, len(goals))
	type point struct{ coverage, accuracy float64 }
	var curve []point
	lowest, right := 1.0, 0
	for i, row := range rows {
		if row.fate == correct {
			right++
		}
		if i+1 < len(rows) && rows[i+1].confidence == row.confidence {
			continue
		}
		at := point{float64(i+1) / float64(len(rows)), float64(right) / float64(i+1)}
		curve = append(curve, at)
		lowest = min(lowest, at.accuracy)
		for g, goal := range goals {
			if at.accuracy >= goal {
				reached[g] = choice{percent(goal), percent(at.coverage), percent(float64(row.confidence))}
			}
		}
	}
	for i, c := range reached {
		better := i+1 < len(reached) && reached[i+1].Coverage == c.Coverage
		if c.Accuracy != "" && !better {
			p.Choices = append(p.Choices, c)
		}
	}
	floor := min(0.9, math.Floor(lowest*10)/10)
	height := func(accuracy float64) string {
		return coordinate(histTop + histHeight*(1-accuracy)/(1-floor))
	}
	var line []byte
	step := max(1, len(curve)/500) // more points than pixels would only make the page larger
	for i, at := range curve {
		if i%step == 0 || i == len(curve)-1 {
			line = append(line, coordinate(histLeft+histWidth*at.coverage)+","+height(at.accuracy)+" "...)
		}
	}
	p.Curve = string(line)
	for i := range 5 {
		share := float64(i) / 4
		p.XTicks = append(p.XTicks, tick{At: coordinate(histLeft + histWidth*share), Label: strconv.Itoa(25*i) + "%"})
		p.YTicks = append(p.YTicks, tick{At: height(floor + (1-floor)*share), Label: percent(floor + (1-floor)*share)})
	}
}

// scale is a range of novelty, of width 0 if the novelties do not differ.
type scale struct{ low, high float64 }

// share returns where a novelty stands on the scale, within [0, 1].
func (s scale) share(v float64) float64 { return min(1, max(0, (v-s.low)/(s.high-s.low))) }

// at returns the novelty at a share of the scale.
func (s scale) at(share float64) string { return figure(s.low + share*(s.high-s.low)) }

// noveltyScale ends at the 99.5th percentile, or at the threshold if that is
// higher: a single far outlier would press all others together.
func (c *census) noveltyScale(threshold *float64) scale {
	var values []float64
	for _, row := range c.rows {
		if v := float64(row.novelty); isNumber(v) {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return scale{}
	}
	slices.Sort(values)
	s := scale{values[0], values[int(0.995*float64(len(values)-1))]}
	if threshold != nil && isNumber(*threshold) {
		s = scale{min(s.low, *threshold), max(s.high, *threshold)}
	}
	return s
}

const noveltyBins = 40

// newNoveltyPlot returns nil if the novelties do not differ. The last bar also
// holds what is beyond the scale.
func newNoveltyPlot(c *census, threshold *float64) *histogram {
	s := c.noveltyScale(threshold)
	if !(s.high > s.low) {
		return nil
	}
	bins := make([][fates]int, noveltyBins)
	for _, row := range c.rows {
		if v := float64(row.novelty); isNumber(v) {
			f := row.fate
			if f == wrong { // novelty tells known classes from others, not right from wrong
				f = correct
			}
			bins[min(noveltyBins-1, int(noveltyBins*s.share(v)))][f]++
		}
	}
	names := [fates]string{"without known truth", "of the model's classes", "", "of other classes"}
	h := newHistogram(bins, names, func(i int) string { return s.at(float64(i) / noveltyBins) })
	for i := range 5 {
		h.tickX(float64(i)/4, s.at(float64(i)/4))
	}
	if threshold != nil && isNumber(*threshold) {
		h.Mark = coordinate(histLeft + histWidth*s.share(*threshold))
		h.MarkText = figure(*threshold)
	}
	h.Caption = "Photos by novelty"
	return h
}
