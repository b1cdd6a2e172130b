package plda

import "slices"

// stranger is a class of which no example has been seen: N(0, 1+β) in whitened
// coordinates, the prior. It is scored behind the classes that are known.
func (sp *space) stranger() class {
	return class{posterior: posterior{weight: make([]float64, len(sp.origin)), offset: -sp.logSum1(0) / 2}}
}

// novelty is the log-likelihood ratio of a stranger to the likeliest class: what
// is improbable under every class is novel only as far as it is less so under
// the prior.
func novelty(scores []float64) float64 {
	last := len(scores) - 1
	return scores[last] - slices.Max(scores[:last])
}
