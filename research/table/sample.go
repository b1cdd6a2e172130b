package table

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// MeanSD returns the mean of values and their standard deviation (divisor n−1),
// which is NaN for fewer than two values.
func MeanSD(values []float64) (mean, sd float64) {
	if len(values) < 2 {
		return stat.Mean(values, nil), math.NaN()
	}
	return stat.MeanStdDev(values, nil)
}

// MeanSEM returns the mean of values and its standard error, which is NaN for
// fewer than two values.
func MeanSEM(values []float64) (mean, sem float64) {
	mean, sd := MeanSD(values)
	return mean, stat.StdErr(sd, float64(len(values)))
}

// Differences returns a minus b, pair by pair, up to the shorter length.
func Differences(a, b []float64) []float64 {
	n := min(len(a), len(b))
	return floats.SubTo(make([]float64, n), a[:n], b[:n])
}

// Collect returns one value per item.
func Collect[T any](items []T, value func(T) float64) []float64 {
	out := make([]float64, len(items))
	for i, item := range items {
		out[i] = value(item)
	}
	return out
}

// Percent formats a fraction as a percentage.
func Percent(fraction float64) string { return strconv.FormatFloat(100*fraction, 'f', 2, 64) }

// PlusMinus formats a fraction and its spread in percent. A NaN spread is
// omitted; a NaN mean gives None.
func PlusMinus(mean, spread float64) string {
	switch {
	case math.IsNaN(mean):
		return None
	case math.IsNaN(spread):
		return Percent(mean)
	}
	return fmt.Sprintf("%s ± %s", Percent(mean), Percent(spread))
}
