package classifier

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A State is a saved head: small settings as JSON, arrays as tensors.
type State struct {
	// Settings is the JSON of everything that the head needs besides its arrays.
	Settings []byte
	// Tensors holds the arrays by name.
	Tensors map[string]Tensor
}

// A Tensor is a dense row-major array. Exactly one of F32, F64 and I64 is set.
type Tensor struct {
	Shape []int
	F32   []float32
	F64   []float64
	I64   []int64
}

// NewState returns a State with settings as its JSON.
func NewState(settings any, tensors map[string]Tensor) (State, error) {
	text, err := json.Marshal(settings)
	if err != nil {
		return State{}, fmt.Errorf("settings: %w", err)
	}
	return State{Settings: text, Tensors: tensors}, nil
}

// Decode reads the settings into v.
func (s State) Decode(v any) error {
	if err := json.Unmarshal(s.Settings, v); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return nil
}

// maxDim is far above the length of any embedding.
const maxDim = 1 << 20

// Learned is what every saved head records about what it has learned; heads
// embed it in their settings.
type Learned struct {
	// Dim is d, the length of the embeddings.
	Dim int `json:"dim"`
	// Classes are the names, in the order of the head's tensors.
	Classes []string `json:"classes"`
}

// Check reports whether the saved head was fitted. Without classes it must have
// no tensors; with classes it needs a dimension and distinct names.
func (l Learned) Check(s State) (fitted bool, err error) {
	if len(l.Classes) == 0 {
		return false, s.CheckUnfitted()
	}
	if l.Dim < 1 || l.Dim > maxDim {
		return false, fmt.Errorf("dimension %d is outside 1 … %d", l.Dim, maxDim)
	}
	err = CheckClasses(l.Classes)
	return err == nil, err
}

// LoadHead returns the head of a method that s describes. T holds its settings
// and embeds Learned; unfitted creates the head from them, and restore reads the
// tensors if it has learned any classes.
func LoadHead[H any, T interface{ Check(State) (bool, error) }](method string, s State, unfitted func(T) (H, error),
	restore func(H, State, T) error) (H, error) {
	var set T
	var head H
	err := s.Decode(&set)
	if err == nil {
		head, err = unfitted(set)
	}
	if err == nil {
		var fitted bool
		if fitted, err = set.Check(s); fitted {
			err = restore(head, s, set)
		}
	}
	if err != nil {
		var none H
		return none, fmt.Errorf("%s: load: %w", method, err)
	}
	return head, nil
}

// CheckUnfitted returns an error if a head without classes has tensors.
func (s State) CheckUnfitted() error {
	if len(s.Tensors) > 0 {
		return fmt.Errorf("%d tensors, but no classes", len(s.Tensors))
	}
	return nil
}

// Float32 returns a copy of the named tensor, which must have the given shape
// and hold only finite values.
func (s State) Float32(name string, shape ...int) ([]float32, error) {
	return cloned(s, name, s.Tensors[name].F32, shape)
}

// Float64 is Float32 for float64.
func (s State) Float64(name string, shape ...int) ([]float64, error) {
	return cloned(s, name, s.Tensors[name].F64, shape)
}

func cloned[T float32 | float64](s State, name string, values []T, shape []int) ([]T, error) {
	err := s.check(name, len(values), shape)
	if err == nil {
		err = checkFinite(name, values)
	}
	if err != nil {
		return nil, err
	}
	return slices.Clone(values), nil
}

func checkFinite[T float32 | float64 | int64](tensor string, values []T) error {
	for _, v := range values {
		if v-v != 0 { // NaN for NaN and for ±Inf
			return fmt.Errorf("tensor %s holds a NaN or an infinity", tensor)
		}
	}
	return nil
}

// Counts returns a copy of the named int64 vector of the given length, whose
// values must lie between least and most.
func (s State) Counts(name string, length, least, most int) ([]int, error) {
	t := s.Tensors[name]
	if err := s.check(name, len(t.I64), []int{length}); err != nil {
		return nil, err
	}
	out := make([]int, length)
	for i, v := range t.I64 {
		if v < int64(least) || v > int64(most) {
			return nil, fmt.Errorf("tensor %s: value %d is outside %d … %d", name, v, least, most)
		}
		out[i] = int(v)
	}
	return out, nil
}

// CountTensor is the inverse of Counts.
func CountTensor(counts []int) Tensor {
	t := Tensor{Shape: []int{len(counts)}, I64: make([]int64, len(counts))}
	for i, v := range counts {
		t.I64[i] = int64(v)
	}
	return t
}

func (s State) check(name string, values int, shape []int) error {
	t, ok := s.Tensors[name]
	if !ok {
		return fmt.Errorf("tensor %s is missing", name)
	}
	if !slices.Equal(t.Shape, shape) {
		return fmt.Errorf("tensor %s has shape %v, want %v", name, t.Shape, shape)
	}
	size := 1
	if slices.Contains(shape, 0) { // whatever the other dimensions
		size, shape = 0, nil
	}
	for _, n := range shape {
		if n < 0 || (n > 0 && size > values/n && size > 0) {
			size = -1
			break
		}
		size *= n
	}
	if size != values {
		return fmt.Errorf("tensor %s: %d values do not fill %v", name, values, t.Shape)
	}
	return nil
}

// CheckClasses returns an error unless the class names of a saved head are
// distinct and not empty.
func CheckClasses(classes []string) error {
	seen := make(map[string]bool, len(classes))
	for _, c := range classes {
		if c == "" || seen[c] {
			return fmt.Errorf("class %q is empty or appears twice", c)
		}
		seen[c] = true
	}
	return nil
}
