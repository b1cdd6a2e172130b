package split

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Shares are the parts of a split in percent: train and test, or train, validation and
// test.
type Shares []float64

// Parse reads "80,20" or "70,15,15".
func Parse(text string) (Shares, error) {
	wrong := func(why string) (Shares, error) {
		return nil, fmt.Errorf("split %q: %s; write the percents of train and test, such as 80,20, or of train, "+
			"validation and test, such as 70,15,15", text, why)
	}
	var s Shares
	sum := 0.
	for cell := range strings.SplitSeq(text, ",") {
		share, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
		if err != nil || !(share > 0 && share < 100) { // NaN is neither
			return wrong(fmt.Sprintf("%q is no share between 0 and 100", cell))
		}
		s, sum = append(s, share), sum+share
	}
	const rounding = 0.01
	switch {
	case len(s) != 2 && len(s) != 3:
		return wrong(fmt.Sprintf("%d shares", len(s)))
	case math.Abs(sum-100) > rounding:
		return wrong(fmt.Sprintf("the shares add up to %g", sum))
	}
	return s, nil
}

// names returns the names of the parts.
func (s Shares) names() []string {
	if len(s) == 2 {
		return []string{"train", "test"}
	}
	return []string{"train", "validation", "test"}
}
