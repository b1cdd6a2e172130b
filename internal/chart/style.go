package chart

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
)

// WholeNumbers returns the labels 1 … n.
func WholeNumbers(n int) []string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = strconv.Itoa(i + 1)
	}
	return labels
}

// Labelled returns ticks at 1, 2, ….
func Labelled(labels []string) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i, l := range labels {
		ticks = append(ticks, plot.Tick{Value: float64(i + 1), Label: l})
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

// ticks returns round numbers, or powers of ten if the axis holds logarithms.
func ticks(low, high float64, log bool) plot.ConstantTicks {
	if log {
		return decades(low, high)
	}
	return roundTicks(low, high)
}

// decades returns ticks at 1 … 9 times powers of ten, for axes that hold
// decimal logarithms. Powers are labelled; on short axes so are 2 and 5 times
// the powers.
func decades(low, high float64) plot.ConstantTicks {
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

func logarithms(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Log10(v)
	}
	return out
}

// A scale is a palette.Palette.
type scale []color.Color

func (s scale) Colors() []color.Color { return s }

// Gradient returns n colours that pass through the stops (red, green, blue) at
// equal distances.
func Gradient(n int, stops ...[3]float64) palette.Palette {
	s := make(scale, n)
	for i := range s {
		t := float64(i) / float64(n-1) * float64(len(stops)-1)
		k := min(int(t), len(stops)-2)
		t -= float64(k)
		var c [3]uint8
		for j := range c {
			c[j] = uint8(math.Round(stops[k][j]*(1-t) + stops[k+1][j]*t))
		}
		s[i] = color.NRGBA{c[0], c[1], c[2], 255}
	}
	return s
}

// roundTicks returns at most nine ticks at multiples of a round number.
func roundTicks(low, high float64) plot.ConstantTicks {
	step := roundStep(low, high)
	var ticks plot.ConstantTicks
	for i := math.Ceil(low/step - 1e-9); i*step <= high+1e-9*step; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step+0, 'g', 6, 64)}) // + 0 turns −0 into 0
	}
	return ticks
}
