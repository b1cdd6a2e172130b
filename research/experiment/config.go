package experiment

import (
	"fmt"
	"slices"
)

// Each checks the values of a list: each must be allowed, none may occur twice.
// what describes the allowed values.
func Each[T comparable](name string, values []T, what string, allowed func(T) bool) error {
	for i, v := range values {
		if !allowed(v) {
			return fmt.Errorf("%s: %v is not %s", name, v, what)
		}
		if slices.Contains(values[:i], v) {
			return fmt.Errorf("%s: %v occurs twice", name, v)
		}
	}
	return nil
}

// EachWithin is Each for whole numbers in a range.
func EachWithin(name string, values []int, least, most int) error {
	return Each(name, values, fmt.Sprintf("in %d … %d", least, most),
		func(v int) bool { return v >= least && v <= most })
}
