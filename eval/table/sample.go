package table

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// MeanSD returns the mean of values and their standard deviation (divisor
// n−1), NaN for fewer than two.
func MeanSD(values []float64) (mean, sd float64) {
	if len(values) < 2 {
		return stat.Mean(values, nil), math.NaN()
	}
	return stat.MeanStdDev(values, nil)
}

// MeanSEM returns the mean of values and its standard error, NaN for fewer than
// two.
func MeanSEM(values []float64) (mean, sem float64) {
	mean, sd := MeanSD(values)
	return mean, stat.StdErr(sd, float64(len(values)))
}

// Differences returns a less b, pair by pair, as far as both reach.
func Differences(a, b []float64) []float64 {
	n := min(len(a), len(b))
	return floats.SubTo(make([]float64, n), a[:n], b[:n])
}

// Collect returns a value of every item.
func Collect[T any](items []T, value func(T) float64) []float64 {
	out := make([]float64, len(items))
	for i, item := range items {
		out[i] = value(item)
	}
	return out
}

// Percent writes a fraction.
func Percent(fraction float64) string { return strconv.FormatFloat(100*fraction, 'f', 2, 64) }

// PercentOr writes a fraction, None where there is none.
func PercentOr(fraction *float64) string {
	if fraction == nil {
		return None
	}
	return Percent(*fraction)
}

// PlusMinus writes a fraction and its spread in percent; a spread that is not a
// number is left out, a mean that is not is None.
func PlusMinus(mean, spread float64) string {
	switch {
	case math.IsNaN(mean):
		return None
	case math.IsNaN(spread):
		return Percent(mean)
	}
	return fmt.Sprintf("%s ± %s", Percent(mean), Percent(spread))
}
