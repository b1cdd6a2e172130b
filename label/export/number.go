package export

import (
	"strings"

	"github.com/seed-90d10d51/pipeline/label"
)

// A float is a JSON number with seven significant digits that is never an integer, since
// some readers take the type of a column from its first values.
type float float64

// MarshalJSON implements json.Marshaler.
func (x float) MarshalJSON() ([]byte, error) {
	text := label.Digits(float64(x))
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return []byte(text), nil
}

func optional(x *float64) *float {
	if x == nil {
		return nil
	}
	return new(float(*x))
}
