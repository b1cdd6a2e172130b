package gauss

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Start is what the base session of a head starts from.
type Start struct {
	// Prior is nil for none.
	Prior *Prior
	// Weight is that of the prior, 0 if the base session chooses it.
	Weight float64
	// Guessed is the share of the space that is guessed, nil if the base session tells.
	Guessed *float64
}

// Settled is what the base session of a head settles. Heads embed it in what they save.
type Settled struct {
	// PriorWeight is the number of degrees of freedom that the prior counts as, 0
	// without one.
	PriorWeight float64 `json:"prior_weight,omitempty"`
	// PriorEpsilon is the ε chosen with that weight, 0 if it is the one that was set.
	PriorEpsilon float64 `json:"prior_epsilon,omitempty"`
	// Guessed is the share of the space that was guessed.
	Guessed float64 `json:"guessed,omitempty"`
	// Rank and Rest are those of the space.
	Rank  int     `json:"rank"`
	Rest  float64 `json:"beta_rest"`
	Space *Space  `json:"-"`
}

// A Base is what the heads of one space have in common: what their base session starts
// from, and what it has settled. Heads embed it.
type Base struct {
	Start   Start
	settled func() Settled
}

// NewBase returns the base of a head; settled returns the zero value before the base
// session.
func NewBase(settled func() Settled) Base { return Base{settled: settled} }

// UsePrior implements PriorUser.
func (b *Base) UsePrior(p *Prior) error {
	b.Start.Prior = p
	return nil
}

// PriorWeight implements PriorUser.
func (b *Base) PriorWeight() float64 { return b.settled().PriorWeight }

// Space implements Spacer.
func (b *Base) Space() *Space { return b.settled().Space }

// Spread implements classifier.Doubting.
func (b *Base) Spread(n int) float64 { return b.Space().Spread(n) }

// Fit returns the basis of a base session and what it settles so far.
func (st Start) Fit(ctx context.Context, m linalg.Backend, s *moments.Session) (*Basis, Settled, error) {
	basis, err := Fit(ctx, m, s, s.Totals())
	if err != nil {
		return nil, Settled{}, err
	}
	basis.GuessAs(st.Guessed)
	if basis, err = basis.weighed(ctx, s, st.Prior, st.Weight); err != nil {
		return nil, Settled{}, err
	}
	return basis, Settled{PriorWeight: basis.PriorWeight(), Guessed: basis.Guessed()}, nil
}

// Again returns the start of a head that is to settle the same.
func (b *Base) Again() Start {
	s := b.settled()
	var next Start
	if s.Space != nil {
		next.Guessed = &s.Guessed
	}
	if s.PriorWeight > 0 {
		next.Prior, next.Weight = b.Start.Prior, s.PriorWeight
	}
	return next
}

// SetSpace computes the space of a basis.
func (s *Settled) SetSpace(b *Basis, epsilon float64, certain bool, length float64) error {
	sp, err := b.Space(epsilon)
	if err != nil {
		return err
	}
	sp.Certain, sp.Length = certain, length
	s.Space, s.Rank, s.Rest = sp, len(sp.Beta), sp.Rest
	return nil
}

// Load restores the space.
func (s *Settled) Load(state classifier.State, dim int, certain bool, length float64) error {
	sp, err := loadSpace(state, dim, s.Rank, s.Rest)
	if err == nil {
		sp.Certain, sp.Length = certain, length
	}
	s.Space = sp
	return err
}

// Check returns an error unless saved values are possible.
func (s Settled) Check() error {
	var weight, epsilon error
	if !(s.PriorWeight >= 0 && s.PriorWeight < math.MaxInt32) {
		weight = fmt.Errorf("the prior counts as %g images", s.PriorWeight)
	}
	if !(s.PriorEpsilon >= 0 && s.PriorEpsilon <= 1) {
		epsilon = fmt.Errorf("the epsilon of the prior is %g, outside 0 … 1", s.PriorEpsilon)
	}
	return cmp.Or(weight, epsilon, checkGuessed(s.Guessed))
}
