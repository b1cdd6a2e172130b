package temperature

import "fmt"

// Auto as Config.Temperature means that T is fitted in episodes inside the base
// session.
const Auto = 0

// Limits of a temperature that is set or loaded.
const least, most = 1e-3, 1e4

// Config holds the settings of the temperature.
type Config struct {
	// Temperature is T; 1 leaves a head's probabilities unchanged, 0 (Auto) means
	// fit it on the base session.
	Temperature float64 `json:"temperature"`
}

// Validate returns an error that names the field that is out of range.
func (c Config) Validate() error {
	if c.Temperature == Auto {
		return nil
	}
	return check(c.Temperature)
}

// Value returns the temperature for a base session: nil if T is set to 1, the
// value that is set, or the result of fit.
func (c Config) Value(fit func() (*Value, error)) (*Value, error) {
	switch c.Temperature {
	case 1:
		return nil, nil
	case Auto:
		return fit()
	}
	return &Value{T: c.Temperature}, nil
}

func check(T float64) error {
	if !(T >= least && T <= most) {
		return fmt.Errorf("temperature: %g is outside %g … %g; 0 means fit it on the base session, 1 leaves "+
			"probabilities as they are", T, float64(least), float64(most))
	}
	return nil
}
