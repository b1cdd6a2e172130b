package native

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/openblas"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// Names of the backends.
const (
	Auto        = "auto"
	Gonum       = "gonum"
	ONNXRuntime = "onnxruntime"
	OpenBLAS    = "openblas"
)

// Config selects the backend and its library.
type Config struct {
	// Backend is auto, gonum, onnxruntime or openblas; "" is auto.
	Backend string `mapstructure:"backend" json:"backend"`
	// OpenBLAS is the path of that library; "" means search for it.
	OpenBLAS string `mapstructure:"openblas" json:"openblas"`
}

// DefaultConfig returns the backend auto.
func DefaultConfig() Config { return Config{Backend: Auto} }

// names lists the values of Config.Backend.
func names() []string { return []string{Auto, Gonum, ONNXRuntime, OpenBLAS} }

// Validate names the field that is invalid.
func (c Config) Validate() error {
	if c.Backend == "" || slices.Contains(names(), c.Backend) {
		return nil
	}
	return fmt.Errorf("backend: %q is not one of %s", c.Backend, strings.Join(names(), ", "))
}

// A Choice is the backend of a process.
type Choice struct {
	linalg.Backend
	// Kernel computes large products, except those of fits, which Raw computes.
	Kernel linalg.Kernel
	// Float32 and Float64 name the library for each type; for Float64 that of
	// fits.
	Float32, Float64 Origin
	// Rejected is the reason why auto did not choose something faster, or nil.
	Rejected error
}

// An Origin names a backend with the Version and Path of its library, which are ""
// for gonum.
type Origin struct{ Backend, Version, Path string }

func (o Origin) String() string {
	return strings.Join(strings.Fields(o.Backend+" "+o.Version+" "+o.Path), " ")
}

// Kinds names both backends with their versions but without their paths: what the
// last bits of results depend on.
func (c Choice) Kinds() string {
	c.Float32.Path, c.Float64.Path = "", ""
	return c.String()
}

func (c Choice) String() string {
	if c.Float32 == c.Float64 {
		return c.Float32.String()
	}
	return fmt.Sprintf("float32 by %s, float64 by %s", c.Float32, c.Float64)
}

// Choose loads the libraries of the backend named by c. Auto takes what works and
// fails only if an OpenBLAS library that was asked for cannot be used. runtime
// returns ONNX Runtime, loading it if necessary.
func Choose(c Config, runtime func() (*ort.Runtime, error)) (Choice, error) {
	if err := c.Validate(); err != nil {
		return Choice{}, err
	}
	b := selection{kernel: linalg.Gonum{}, raw: linalg.Gonum{}}
	b.choice.Float32, b.choice.Float64 = Origin{Backend: Gonum}, Origin{Backend: Gonum}
	var noRuntime, noBLAS error
	if c.Backend != Gonum {
		noRuntime = b.takeRuntime(runtime)
	}
	if c.Backend != ONNXRuntime && c.Backend != Gonum {
		noBLAS = b.takeOpenBLAS(c.OpenBLAS)
	}
	switch {
	case c.Backend == ONNXRuntime && noRuntime != nil:
		return Choice{}, noRuntime
	case noBLAS != nil && (c.Backend == OpenBLAS || openblas.Ordered(c.OpenBLAS)):
		return Choice{}, noBLAS
	}
	return b.result(errors.Join(noRuntime, noBLAS)), nil
}

// A selection collects what Choose has loaded so far.
type selection struct {
	kernel, raw linalg.Kernel
	choice      Choice
}

func (b *selection) result(rejected error) Choice {
	b.choice.Rejected = rejected
	b.choice.Kernel = b.kernel
	if b.choice.Float32.Backend != Gonum || b.choice.Float64.Backend != Gonum {
		b.choice.Backend = linalg.On(b.kernel, b.raw)
	}
	return b.choice
}

// takeRuntime selects ONNX Runtime for float32 and float64.
func (b *selection) takeRuntime(runtime func() (*ort.Runtime, error)) error {
	rt, err := runtime()
	if err != nil {
		return fmt.Errorf("backend %s: %w", ONNXRuntime, err)
	}
	k, err := newRuntimeKernel(rt)
	if err != nil {
		return fmt.Errorf("backend %s: %w", ONNXRuntime, err)
	}
	origin := Origin{ONNXRuntime, rt.Version(), rt.Library().Path}
	b.kernel, b.raw, b.choice.Float32, b.choice.Float64 = k, k, origin, origin
	return nil
}

// takeOpenBLAS selects OpenBLAS for float64 in fits only: the last bits of a row
// from its AVX-512 kernels depend on the position in the batch, which is not
// acceptable for scores.
func (b *selection) takeOpenBLAS(path string) error {
	lib, err := openblas.Locate(path)
	if err != nil {
		return fmt.Errorf("backend %s: %w", OpenBLAS, err)
	}
	blas, err := openblas.Open(lib)
	if err != nil {
		return fmt.Errorf("backend %s: %w", OpenBLAS, err)
	}
	b.raw, b.choice.Float64 = pair{b.kernel, blas}, Origin{OpenBLAS, blas.Version(), blas.Library().Path}
	return nil
}

// pair computes float32 products with one library and float64 products with
// another.
type pair struct {
	mul32
	*openblas.BLAS
}

type mul32 interface {
	Mul32(dst, a, b blas32.General) error
}
