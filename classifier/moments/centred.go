package moments

import "gonum.org/v1/gonum/blas/blas64"

// Centred returns the examples less their mean (n×d, a copy) in the thin form,
// and false in the full one, which has forgotten them.
func (m *Moments) Centred() (blas64.General, bool) {
	if !m.Thin() {
		return blas64.General{}, false
	}
	return centred(m.matrix(), m.Mean()), true
}
