package model

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/model/internal/naming"
)

// onlyNames is why a model of names is not calibrated.
const onlyNames = "the model has seen no images yet, only names"

// uncalibratedWeight is that of the score of names beside log-probabilities, where no
// example can be left out to choose it.
const uncalibratedWeight = 0.75

// Words returns what the head knows about the names of its classes, nil for nothing.
func (p *Predictor) Words() *gauss.Words {
	if user, ok := p.Head.(gauss.WordUser); ok {
		return user.Words()
	}
	return nil
}

// namesOnly reports whether the Predictor knows its classes by their names alone.
func (p *Predictor) namesOnly() bool {
	return p.Words() != nil && !p.Head.(gauss.WordUser).Started()
}

// useWords gives words to a head that has learned nothing; nil is none.
func (p *Predictor) useWords(w *gauss.Words) error {
	if w == nil {
		return nil
	}
	user, ok := p.Head.(gauss.WordUser)
	switch {
	case !ok:
		return fmt.Errorf("%w: this method does not use names; plda does", gauss.ErrWords)
	case p.dkl != nil:
		return fmt.Errorf("%w with deep kernel learning: texts are not projected", gauss.ErrWords)
	}
	fresh := *w
	fresh.Doubted, fresh.Count, fresh.Weight = nil, 0, 1
	if err := user.UseWords(&fresh); err != nil {
		return err
	}
	p.Calibration = calibration.Calibration{Novelty: calibration.Novelty{Reason: onlyNames}}
	switch set := p.temperature.Temperature; set {
	case temperature.Auto:
		p.Temperature = &temperature.Value{T: 1, Fallback: onlyNames}
	case 1:
	default:
		p.Temperature = &temperature.Value{T: set}
	}
	return nil
}

// ownWords gives p a head of its own if it has words, which a calibration changes.
func (p *Predictor) ownWords() error {
	if p.Words() == nil {
		return nil
	}
	head, err := p.Head.(classifier.Cloner).Clone()
	if err == nil {
		p.Head = head
	}
	return err
}

// dropWords forgets names. A head with no other classes is unfitted.
func (p *Predictor) dropWords(names map[string]bool) error {
	w := p.Words()
	if w == nil {
		return nil
	}
	return p.Head.(gauss.WordUser).UseWords(w.Of(func(name string) bool { return !names[name] }))
}

// weighWords chooses how much names count, and returns the temperature that goes with
// it, nil if there is nothing to choose.
func (p *Predictor) weighWords(ctx context.Context, t calibration.Task) (*temperature.Value, error) {
	w := p.Words()
	if w == nil {
		return nil, nil
	}
	chosen, value, err := naming.Choose(ctx, naming.Task{Sessions: t.Sessions, Fresh: t.Fresh}, w)
	if err != nil || chosen == nil {
		return nil, err
	}
	return value, p.Head.(gauss.WordUser).UseWords(chosen)
}

// AddWords adds names to those that the model knows, or replaces their texts. What names
// count as is chosen again. On error the model is unchanged.
func (m *Model) AddWords(ctx context.Context, w *gauss.Words) error {
	next, err := m.Predictor.withWords(ctx, w)
	if err != nil {
		return fmt.Errorf("learn names: %w", err)
	}
	m.Predictor, m.changed = next, true
	return nil
}

func (p *Predictor) withWords(ctx context.Context, w *gauss.Words) (*Predictor, error) {
	next := p.calibratedOn(p.kept)
	if len(p.Classes()) == 0 || p.namesOnly() {
		head, err := p.newHead()
		if err != nil {
			return nil, err
		}
		next.Head = head
	} else if cloner, ok := p.Head.(classifier.Cloner); ok {
		head, err := cloner.Clone()
		if err != nil {
			return nil, err
		}
		next.Head = head
	}
	texts := p.Words().ByName()
	maps.Copy(texts, w.ByName())
	all, err := gauss.NewWords(texts)
	if err != nil {
		return nil, err
	}
	if len(p.Classes()) == 0 || p.namesOnly() {
		return next, next.useWords(all)
	}
	user, ok := next.Head.(gauss.WordUser)
	if !ok || p.dkl != nil {
		return nil, fmt.Errorf("%w: this model does not use names; one of plda without a projection does",
			gauss.ErrWords)
	}
	if old := p.Words(); old != nil {
		all.Count, all.Weight, all.Doubted = old.Count, old.Weight, old.Doubted
	} else if all.Weight = uncalibratedWeight; p.Temperature != nil {
		all.Weight *= p.Temperature.T
	}
	if err := user.UseWords(all); err != nil {
		return nil, err
	}
	return next, next.calibrate(ctx)
}

// taught returns the classes that have samples, in column order.
func (m *Model) taught() []string {
	learned := map[string]bool{}
	if m.Predictor.Words() != nil {
		for _, id := range m.Sessions.samples() {
			learned[id.Class] = true
		}
	}
	return m.Predictor.taught(learned)
}

// taught returns the classes without those that are only named, not learned.
func (p *Predictor) taught(learned map[string]bool) []string {
	named := p.Words().ByName()
	return slices.DeleteFunc(slices.Clone(p.Classes()), func(name string) bool {
		_, ok := named[name]
		return ok && !learned[name]
	})
}
