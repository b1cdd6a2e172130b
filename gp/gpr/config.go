package gpr

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Method is a way to update the inverse.
type Method string

// Methods.
const (
	// Cholesky appends rows to a Cholesky factor and deletes them.
	Cholesky Method = "cholesky"
	// Direct updates the inverse once for all examples of an operation.
	Direct Method = "direct"
	// Iterative updates the inverse once for each example.
	Iterative Method = "iterative"
)

// NotPSDError reports that K+σ²I is not positive definite to working precision.
type NotPSDError = linalg.NotPSDError

// Config holds the settings of a regression.
type Config struct {
	// Method is how the inverse is updated.
	Method Method
	// Noise is σ², the variance of a target about the function.
	Noise float64
}

// DefaultConfig returns the method that fits fastest (see the package comment)
// and σ² = 0.03.
func DefaultConfig() Config { return Config{Method: Cholesky, Noise: 0.03} }

// Validate names the field that is out of range.
func (c Config) Validate() error {
	if !(c.Noise > 0 && c.Noise < 1e100) {
		return fmt.Errorf("noise: %g is not a variance", c.Noise)
	}
	return setting.OneOf("method", c.Method, Cholesky, Direct, Iterative)
}

// IndexError reports an example or output that does not exist or is named twice.
type IndexError struct {
	// What is "example" or "output".
	What string
	// Index is the index given; N is the number of examples or outputs.
	Index, N int
}

func (e *IndexError) Error() string {
	return fmt.Sprintf("%s %d of %d: there is none, or it is named twice", e.What, e.Index, e.N)
}
