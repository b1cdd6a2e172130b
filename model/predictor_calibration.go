package model

import (
	"context"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
)

// Kept returns the number of embeddings that are kept for calibration, and their
// size in bytes.
func (p *Predictor) Kept() (embeddings, bytes int) { return p.kept.size() }

// calibratedOn returns a copy of p, with the same head, that keeps k.
func (p *Predictor) calibratedOn(k *keptExamples) *Predictor {
	next := *p
	next.kept = k
	return &next
}

// calibrate fits T and the thresholds to what is kept, if anything is. It fails
// only if ctx is cancelled; whatever else prevents a calibration is recorded as
// its Reason.
func (p *Predictor) calibrate(ctx context.Context) error {
	if p.kept == nil {
		return nil
	}
	sessions := make([]episodes.Episode, 0, len(p.kept.sessions))
	for _, s := range p.kept.sessions {
		z, err := p.project(s.X)
		if err != nil {
			return err
		}
		sessions = append(sessions, episodes.Episode{X: z, Y: s.Y, Taken: s.Taken})
	}
	return p.fit(ctx, calibration.Task{Sessions: sessions})
}

// calibrateBase is calibrate for the base session, all of which is at hand. A
// calibration by pseudo-sessions is final, and nothing is kept for another.
func (p *Predictor) calibrateBase(ctx context.Context, s episodes.Episode) error {
	z, err := p.project(s.X)
	if err != nil {
		return err
	}
	err = p.fit(ctx, calibration.Task{
		Sessions: []episodes.Episode{{X: z, Y: s.Y, Taken: s.Taken}}, Embeddings: s.X,
	})
	if p.Calibration.Source == calibration.PseudoSessions {
		p.kept = nil
	}
	return err
}

func (p *Predictor) fit(ctx context.Context, t calibration.Task) error {
	t.Fresh, t.Seed = p.unfitted, p.seed
	set := p.temperature.Temperature
	p.Temperature, p.Calibration = nil, calibration.Calibration{}
	if set != temperature.Auto && set != 1 {
		p.Temperature = &temperature.Value{T: set}
	}
	named, err := p.weighWords(ctx, t)
	if err != nil {
		return err
	}
	if p.uncalibrated && set != temperature.Auto {
		p.Calibration.Reason = "calibration was switched off in training"
		return nil
	}
	found, c, err := calibration.Fit(ctx, t)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		found, c.Reason = &temperature.Value{T: 1, Fallback: err.Error()}, err.Error()
	}
	with := p.Comparison
	if p.Projection != nil && with != nil && with.With < c.Accuracy {
		// The projection has learned from what was left out here, but not from what was there.
		c.Accuracy = with.With
	}
	fitted := found
	if named != nil && c.Source != calibration.PseudoSessions {
		found = named
	}
	if p.Calibration = c; set == temperature.Auto {
		p.Temperature = found
	}
	if p.Temperature != fitted {
		p.Calibration.Understated = 0 // it is of the probabilities at the other one
	}
	return nil
}
