package gpsoftmax

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
)

// TooManyError reports that a session has more examples than the settings
// allow.
type TooManyError struct {
	// Method is the name of the head.
	Method string
	// Class has too many examples; "" means all classes together, in a system of
	// order Order.
	Class          string
	Examples, Most int
	Classes, Order int
}

func (e *TooManyError) Error() string {
	if e.Class != "" {
		return fmt.Sprintf("%d examples of class %q, at most %d are stored: give it fewer, or raise "+
			"classifier.%s.max_per_class", e.Examples, e.Class, e.Most, e.Method)
	}
	what := "n"
	if e.Method == OVE {
		what = "n(C−1)"
	}
	megabytes := 8 * float64(e.Order) * float64(e.Order) / 1e6
	return fmt.Sprintf("%d examples of %d classes make dense systems of order %s = %d (%.0f MB for each), at most "+
		"%d: give fewer examples or classes, or raise classifier.%s.max_system (memory grows with its square, time "+
		"with its cube)", e.Examples, e.Classes, what, e.Order, megabytes, e.Most, e.Method)
}

// fits returns an error if there are more examples than the settings allow.
func (c Config) fits(method string, all exemplars.Table) error {
	for i, n := range all.Counts() {
		if n > c.MaxPerClass {
			return &TooManyError{Method: method, Class: all.Classes[i], Examples: n, Most: c.MaxPerClass}
		}
	}
	total, classes := len(all.Own), len(all.Classes)
	if order := likelihoodOf(method).order(total, classes); order > c.MaxSystem {
		return &TooManyError{Method: method, Examples: total, Classes: classes, Order: order, Most: c.MaxSystem}
	}
	return nil
}
