package dkl

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/temperature"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/dkl/checkpoint"
	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/eval/fscil"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

// Results is results.json. Accuracies are fractions, a value for every seed.
type Results struct {
	Kind     string    `json:"kind"`
	Choice   Choice    `json:"choice"`
	Base     []Quality `json:"base"`
	Sessions []Curve   `json:"sessions"`
}

// A Quality is what one classifier reached on held-out base images.
type Quality struct {
	Classifier string    `json:"classifier"`
	Accuracy   []float64 `json:"accuracy"`
	NLL        []float64 `json:"nll"`
	ECE        []float64 `json:"ece"`
}

// A Curve is what one method reached over the sessions.
type Curve struct {
	Method string `json:"method"`
	// Projection says that it stands behind one.
	Projection bool        `json:"projection"`
	Runs       []fscil.Run `json:"runs"`
}

// A Choice is the setting taken, with what every candidate reached.
type Choice struct {
	Setting string  `json:"setting"`
	Scores  []Score `json:"scores"`
}

// A Score is the accuracies of a candidate in pseudo-sessions, by method: means
// over the splits of base and novel accuracy.
type Score struct {
	Setting string             `json:"setting"`
	Base    map[string]float64 `json:"base"`
	Novel   map[string]float64 `json:"novel"`
	Mean    float64            `json:"mean"`
}

// none is the candidate without a projection, for comparison.
const none = "none"

// Run chooses, then measures.
func Run(ctx context.Context, c Config, s experiment.Site) (experiment.Outcome, error) {
	if s.Features == "" {
		return experiment.Outcome{}, &experiment.InputError{Err: errors.New("no embeddings: give a feature folder with --features")}
	}
	m, err := s.Open(s.Features)
	if err != nil {
		return experiment.Outcome{}, err
	}
	l := lab{c: c, s: s, bench: m.Benches[0], fingerprint: m.Fingerprint}
	r := Results{Kind: "deepkernel"}
	if r.Choice, err = l.choose(ctx); err != nil {
		return experiment.Outcome{}, err
	}
	if r.Base, err = l.base(ctx, r.Choice.Setting); err != nil {
		return experiment.Outcome{}, err
	}
	if r.Sessions, err = l.sessions(ctx, r.Choice.Setting); err != nil {
		return experiment.Outcome{}, err
	}
	return c.outcome(r)
}

// A lab is where everything is measured.
type lab struct {
	c           Config
	s           experiment.Site
	bench       *fscil.Bench
	fingerprint string
}

// head returns an unfitted predictor of a method, with a projection unless
// setting is none.
func (l lab) head(name, setting string, seed uint64) (*model.Predictor, error) {
	settings := l.s.Heads.Seeded(seed)
	settings.WithoutStatistics = true
	s := model.Settings{Method: name, Heads: settings, Temperature: temperature.Config{Temperature: 1}, Backend: l.s.Backend}
	if setting != none {
		t, err := parse(setting)
		if err != nil {
			return nil, err
		}
		t.Seed = seed
		s.DKL, s.Env.Train = &t, l.train
	}
	return model.NewPredictor(s)
}

// train keeps trainings, which several methods share.
func (l lab) train(ctx context.Context, t *dkl.Trainer) error {
	return checkpoint.Folder{Dir: filepath.Join(l.s.Dir, "parts", "training"), Keyed: true}.Train(ctx, t)
}

// sessions takes every method through the benchmark, without and with.
func (l lab) sessions(ctx context.Context, setting string) ([]Curve, error) {
	var curves []Curve
	for _, m := range l.c.Methods {
		for _, with := range []string{none, setting} {
			curve := Curve{Method: m, Projection: with != none}
			for i := range l.c.Seeds {
				name := fmt.Sprintf("sessions_%s_%t_seed%d", key(m), curve.Projection, i)
				run, err := experiment.Part(ctx, l.s, name, []any{l.fingerprint, l.s.Heads, m, with, i}, func() (fscil.Run, error) {
					return l.bench.Run(ctx, func() (classifier.Learner, error) { return l.head(m, with, l.s.Seed+uint64(i)) }, nil)
				})
				if err != nil {
					return nil, err
				}
				curve.Runs = append(curve.Runs, run)
			}
			curves = append(curves, curve)
		}
	}
	return curves, nil
}

func key(name string) string {
	m, err := method.Find(name)
	if err != nil {
		return "unknown"
	}
	return m.Key
}

// choose takes the best candidate by pseudo-sessions; where there is one only,
// nothing is measured.
func (l lab) choose(ctx context.Context) (Choice, error) {
	var choice Choice
	if len(l.c.Candidates) == 1 {
		return Choice{Setting: l.c.Candidates[0]}, nil
	}
	best := -1.0
	for i, setting := range append([]string{none}, l.c.Candidates...) {
		name := fmt.Sprintf("choose_%d", i)
		score, err := experiment.Part(ctx, l.s, name, []any{l.fingerprint, l.s.Heads, setting, l.c.Splits, l.c.ChooseBy}, func() (Score, error) {
			return l.score(ctx, setting)
		})
		if err != nil {
			return choice, err
		}
		if choice.Scores = append(choice.Scores, score); setting != none && score.Mean > best {
			best, choice.Setting = score.Mean, setting
		}
	}
	return choice, nil
}

// score takes one candidate through the pseudo-sessions.
func (l lab) score(ctx context.Context, setting string) (Score, error) {
	score := Score{Setting: setting, Base: map[string]float64{}, Novel: map[string]float64{}}
	cfg := episodes.DefaultConfig()
	cfg.Splits = l.c.Splits
	x, y := l.bench.Train(0)
	plan, err := episodes.NewPlan(x, y, cfg)
	if err != nil {
		return score, err
	}
	all := experiment.Labelled{X: x, Y: y}
	n := float64(l.c.Splits)
	for _, split := range plan.Splits {
		for _, name := range l.c.ChooseBy {
			head, err := l.head(name, setting, l.s.Seed)
			if err != nil {
				return score, err
			}
			for _, rows := range [][]int{split.Base, split.Shots} {
				session := all.Pick(rows)
				if err := head.Learn(ctx, session.X, session.Y); err != nil {
					return score, err
				}
			}
			for to, rows := range map[*map[string]float64][]int{&score.Base: split.BaseTest, &score.Novel: split.NovelTest} {
				report, err := judge(head, all.Pick(rows))
				if err != nil {
					return score, err
				}
				(*to)[name] += report.Accuracy / n
				score.Mean += report.Accuracy / n / 2 / float64(len(l.c.ChooseBy))
			}
		}
	}
	return score, nil
}
