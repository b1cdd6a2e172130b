package onnx

import (
	"errors"
	"fmt"
	"slices"
)

// ErrNoPenultimate reports that a graph does not end in a linear layer.
var ErrNoPenultimate = errors.New("no penultimate tensor")

// Penultimate returns the input of the last linear layer (Gemm or MatMul)
// before the output: the features that a classification network computes for
// its classifier. It skips a bias, a softmax and operators that only rearrange
// values. If several outputs end in different linear layers, the caller must
// choose: the error (wrapping ErrNoPenultimate) lists their inputs.
func (m *Model) Penultimate() (string, error) {
	var found []string
	var firstErr error
	seen := map[string]bool{}
	for _, out := range m.Outputs {
		t, err := m.beforeLastLinear(out.Name, seen)
		if firstErr == nil {
			firstErr = err
		}
		if t != "" && !slices.Contains(found, t) && len(found) < mostNamed {
			found = append(found, t)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("%w: the outputs end in several linear layers, fed by %.300q: name one of these",
			ErrNoPenultimate, found)
	}
	return "", fmt.Errorf("%w: %w", ErrNoPenultimate, firstErr)
}

// mostNamed bounds the tensors that an error names.
const mostNamed = 8

// beforeLastLinear walks from an output towards the input, as far as no output was walked from before:
// there the way is the same, and "" is returned.
func (m *Model) beforeLastLinear(output string, seen map[string]bool) (string, error) {
	t, own := output, map[string]bool{}
	for !own[t] {
		if seen[t] {
			return "", nil
		}
		seen[t], own[t] = true, true
		i, ok := m.producer[t]
		if !ok {
			return "", fmt.Errorf("output %.300q: reached %.300q, which no operator computes", output, t)
		}
		n := m.Nodes[i]
		next, ok := m.activation(n)
		if !ok || !isONNXDomain(n.Domain) {
			return "", fmt.Errorf("output %.300q: comes from %.300s, not from a linear layer", output, n.Op)
		}
		switch n.Op {
		case "Gemm", "MatMul":
			return next, nil
		case "Add", "Softmax", "LogSoftmax", "Sigmoid", "Flatten", "Identity", "Dropout", "Cast", "Reshape", "Squeeze":
			t = next
		default:
			return "", fmt.Errorf("output %.300q: comes from %.300s, not from a linear layer", output, n.Op)
		}
	}
	return "", fmt.Errorf("output %.300q: the graph has a cycle", output)
}

// activation returns the first input that is not a weight.
func (m *Model) activation(n Node) (string, bool) {
	for _, in := range n.Inputs {
		if in != "" && !m.isConstant(in, maxDepth) {
			return in, true
		}
	}
	return "", false
}

// isConstant reports whether a tensor depends on weights only, looking back a
// few operators (a transposed or dequantised weight).
func (m *Model) isConstant(t string, depth int) bool {
	if m.constants[t] {
		return true
	}
	i, ok := m.producer[t]
	if !ok || depth == 0 {
		return false
	}
	switch n := m.Nodes[i]; n.Op {
	case "Constant":
		return true
	case "Transpose", "Cast", "Identity", "DequantizeLinear":
		return len(n.Inputs) > 0 && m.isConstant(n.Inputs[0], depth-1)
	}
	return false
}

// EndsIn reports whether a tensor comes from one of these operators, but for operators
// that only rearrange values.
func (m *Model) EndsIn(tensor string, ops ...string) bool {
	for range maxDepth {
		i, ok := m.producer[tensor]
		if !ok {
			return false
		}
		switch n := m.Nodes[i]; {
		case slices.Contains(ops, n.Op) && isONNXDomain(n.Domain):
			return true
		case slices.Contains([]string{"Flatten", "Identity", "Cast", "Reshape", "Squeeze"}, n.Op) && len(n.Inputs) > 0:
			tensor = n.Inputs[0]
		default:
			return false
		}
	}
	return false
}
