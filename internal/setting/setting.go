// Package setting checks settings. Every error begins with the name of the
// setting.
package setting

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Int returns an error unless value is within least … most.
func Int(name string, value, least, most int) error {
	if value < least || value > most {
		return fmt.Errorf("%s: %d is outside %d … %d", name, value, least, most)
	}
	return nil
}

// Float is Int for a real number; a NaN is an error.
func Float(name string, value, least, most float64) error {
	if !(value >= least && value <= most) {
		return fmt.Errorf("%s: %g is outside %g … %g", name, value, least, most)
	}
	return nil
}

// OneOf returns an error unless value is one of all, of which there are two or
// more.
func OneOf[T ~string](name string, value T, all ...T) error {
	if slices.Contains(all, value) {
		return nil
	}
	if len(all) == 2 {
		return fmt.Errorf("%s: %q is neither %s nor %s", name, value, all[0], all[1])
	}
	var list strings.Builder
	for _, v := range all[:len(all)-1] {
		fmt.Fprintf(&list, ", %s", v)
	}
	return fmt.Errorf("%s: %q is none of %s and %s", name, value, list.String()[2:], all[len(all)-1])
}

// OrDefault returns settings, or the default ones for the zero value.
func OrDefault[C any](c, standard C) C {
	if reflect.ValueOf(&c).Elem().IsZero() {
		return standard
	}
	return c
}
