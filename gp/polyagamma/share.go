package polyagamma

import "math"

// perUnit is the number of table entries per unit of z.
const perUnit = 32

// shares holds rightShare at multiples of 1/perUnit. It is immutable.
var shares = tabulate()

func tabulate() *[wide*perUnit + 1]float64 {
	var table [wide*perUnit + 1]float64
	for i := range table {
		table[i] = rightShare(float64(i) / perUnit)
	}
	return &table
}

// aboveCut reports whether u < p/(p+q). The table brackets the share, so only a u
// between two entries needs the exact value. The brackets are widened by more
// than the rounding error of rightShare.
func aboveCut(u, z float64) bool {
	if z >= wide {
		return false
	}
	i := int(z * perUnit)
	switch {
	case u < shares[i+1]-1e-12:
		return true
	case u > shares[i]+1e-12:
		return false
	}
	return u < rightShare(z)
}

// rightShare returns p/(p+q), which falls with z, for z up to wide:
//
//	p = π/(2K)·e^{−Kt},  q = 2e^{−z}·P(IG(1/z, 1) ≤ t)
func rightShare(z float64) float64 {
	k := rate(z)
	p := math.Pi / (2 * k) * math.Exp(-k*cut)
	scale := math.Sqrt(2 * cut)
	q := math.Exp(-z)*math.Erfc((1-cut*z)/scale) + math.Exp(z)*math.Erfc((1+cut*z)/scale)
	return p / (p + q)
}
