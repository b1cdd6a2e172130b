package account

import (
	"math"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/labelnoise"
)

// A Wrong is how many of some labels are wrong, from Low to High with a probability of 95 % or more. Of counts
// the labels that nobody has looked at one by one.
type Wrong struct {
	Expected float64 `json:"expected"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Of       int     `json:"of"`
}

// Doubts sums how probably labels are wrong that nobody has looked at. A label that is corrected is no longer
// among them, and what is found of the others by models that have not learned them does not depend on it.
type Doubts struct {
	n                 int
	sum, low, high    float64
	lowVar, highVar   float64
	lowOdds, highOdds float64
	Noise             labelnoise.Noise
}

// NewDoubts returns no doubts, for labels of which a noise tells.
func NewDoubts(n labelnoise.Noise) Doubts {
	odds := func(share float64) float64 { return share / (1 - share) }
	d := Doubts{Noise: n}
	if n.Share > 0 {
		d.lowOdds, d.highOdds = odds(n.Low)/odds(n.Share), odds(n.High)/odds(n.Share)
	}
	return d
}

// Add adds a label that is wrong with a probability.
func (d *Doubts) Add(wrong float64) {
	at := func(odds float64) float64 { return wrong * odds / (1 - wrong + wrong*odds) }
	low, high := at(d.lowOdds), at(d.highOdds)
	d.n++
	d.sum, d.low, d.high = d.sum+wrong, d.low+low, d.high+high
	d.lowVar, d.highVar = d.lowVar+low*(1-low), d.highVar+high*(1-high)
}

// Wrong returns how many are wrong, nil if nothing tells.
func (d Doubts) Wrong() *Wrong {
	if d.n == 0 || d.Noise.Share == 0 {
		return nil
	}
	low, high := d.low-1.96*math.Sqrt(d.lowVar), d.high+1.96*math.Sqrt(d.highVar)
	return &Wrong{d.sum, max(0, low), min(high, float64(d.n)), d.n}
}
