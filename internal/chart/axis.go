package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// nameTicks labels x = 1, 2, …, on an axis of about the given length. Names that are too
// long for their places stand upright and make the figure higher.
func (f *Figure) nameTicks(labels []string, length vg.Length) {
	t := &f.Plot.X.Tick
	t.Marker = labelled(labels)
	longest, shown := vg.Length(0), 0
	for _, l := range labels {
		longest = max(longest, t.Label.Width(l))
		if l != "" {
			shown++
		}
	}
	if longest > 0.9*length/vg.Length(shown) {
		t.Label.Rotation, t.Label.XAlign, t.Label.YAlign = math.Pi/2, draw.XRight, draw.YCenter
		f.Height += longest
	}
}

// labelled returns ticks at 1, 2, …, where there is a label.
func labelled(labels []string) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i, l := range labels {
		if l != "" {
			ticks = append(ticks, plot.Tick{Value: float64(i + 1), Label: l})
		}
	}
	return ticks
}

// between returns the distance of two values, or 1 if they differ only by
// rounding.
func between(low, high float64) float64 {
	if reach := high - low; reach > 1e-9*max(math.Abs(low), math.Abs(high)) {
		return reach
	}
	return 1
}

// roundStep returns 1, 2 or 5 times a power of ten, such that at most eight
// steps fit.
func roundStep(low, high float64) float64 {
	const most = 8
	reach := between(low, high)
	decade := math.Pow(10, math.Floor(math.Log10(reach/most)))
	for _, s := range []float64{1, 2, 5} {
		if reach/(s*decade) <= most*(1+1e-9) {
			return s * decade
		}
	}
	return 10 * decade
}

// ticks returns at most nine round numbers at least a step apart or, for axes that hold
// decimal logarithms, 1 … 9 times powers of ten. Powers are labelled; on short axes so
// are 2 and 5 times the powers.
func ticks(low, high, step float64, log bool) plot.ConstantTicks {
	if !log {
		return multiples(low, high, max(step, roundStep(low, high)))
	}
	var ticks plot.ConstantTicks
	for d := math.Floor(low); d <= high; d++ {
		for m := 1; m <= 9; m++ {
			tick := plot.Tick{Value: d + math.Log10(float64(m))}
			if m == 1 || high-low < 1.5 && (m == 2 || m == 5) {
				tick.Label = strconv.FormatFloat(float64(m)*math.Pow(10, d), 'f', -1, 64)
			}
			if tick.Value >= low && tick.Value <= high+1e-9 {
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks
}

func multiples(low, high, step float64) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i := math.Ceil(low/step - 1e-9); i*step <= high+1e-9*step; i++ {
		// + 0 turns −0 into 0
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step+0, 'g', 6, 64)})
	}
	return ticks
}
