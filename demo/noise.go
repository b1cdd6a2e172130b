package demo

import "math"

// noise is a field of random numbers over the plane, a pure function of its
// seed.
type noise uint64

// cell returns a number in [0,1) for the lattice point nearest to (i, j).
func (n noise) cell(i, j float64) float64 {
	h := uint64(n) ^ uint64(int64(i))*0x9e3779b97f4a7c15 ^ uint64(int64(j))*0xc2b2ae3d27d4eb4f
	h = (h ^ h>>31) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return float64((h^h>>33)>>11) / (1 << 53)
}

// at is smooth value noise in [0,1], with features about one unit across.
func (n noise) at(x, y float64) float64 {
	i, j := math.Floor(x), math.Floor(y)
	u, v := ease(x-i), ease(y-j)
	top := n.cell(i, j)*(1-u) + n.cell(i+1, j)*u
	bottom := n.cell(i, j+1)*(1-u) + n.cell(i+1, j+1)*u
	return top*(1-v) + bottom*v
}

func ease(t float64) float64 { return t * t * (3 - 2*t) }

// cloud sums octaves of noise, each of half the size and half the weight of
// the one before; the result lies in [0,1].
func (n noise) cloud(x, y float64, octaves int) float64 {
	sum, weight, total := 0.0, 1.0, 0.0
	for o := range octaves {
		sum += weight * (n+noise(o)*0x51ed27).at(x, y)
		total += weight
		x, y, weight = 2*x+17.3, 2*y-9.1, weight/2
	}
	return sum / total
}
