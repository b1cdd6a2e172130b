package gpc

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/exemplars"
)

// members holds the examples of every class, in column order.
type members = classifier.Table[exemplars.Rows]

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
		return fmt.Sprintf("%d examples of class %q, at most %d are stored: give it fewer, or raise classifier.%s.max_per_class", e.Examples, e.Class, e.Most, e.Method)
	}
	what := "n"
	if e.Method == OVE {
		what = "n(C−1)"
	}
	megabytes := 8 * float64(e.Order) * float64(e.Order) / 1e6
	return fmt.Sprintf("%d examples of %d classes make dense systems of order %s = %d (%.0f MB for each), at most %d: give fewer examples or classes, or raise classifier.%s.max_system (memory grows with its square, time with its cube)", e.Examples, e.Classes, what, e.Order, megabytes, e.Most, e.Method)
}

// fits returns an error if there are more examples than the settings allow.
func (c Config) fits(method string, all *members) error {
	var total int
	for i, rows := range all.Values() {
		if len(rows) > c.MaxPerClass {
			return &TooManyError{Method: method, Class: all.Names()[i], Examples: len(rows), Most: c.MaxPerClass}
		}
		total += len(rows)
	}
	if order := likelihoodOf(method).order(total, all.Len()); order > c.MaxSystem {
		return &TooManyError{Method: method, Examples: total, Classes: all.Len(), Order: order, Most: c.MaxSystem}
	}
	return nil
}
