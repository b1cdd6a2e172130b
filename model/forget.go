package model

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/suggest"
	"github.com/seed-90d10d51/pipeline/model/classstats"
)

// A Forgetting says how to forget, and has what learning the rest again needs
// beyond what the model keeps. The zero value is exact, with nothing more.
type Forgetting struct {
	// Rows returns the embeddings of the wanted contents, as far as it has them;
	// nil has none.
	Rows func(ctx context.Context, wanted map[Hash]bool) (map[Hash][]float32, error)
	// Statistics are those that sessions were learned from.
	Statistics []*classstats.Stats
	// Approximate removes only what is stored by class. Settings, shared parameters
	// and calibrations that cannot be fitted again keep their traces.
	Approximate bool
	// Env trains a projection again, and Checkpoint stores long trainings of the
	// head; see Settings.
	Env        dkl.TrainEnv
	Checkpoint classifier.Checkpoint
}

// A Way says how something was forgotten.
type Way string

// The ways of forgetting.
const (
	// Relearned is exact: the model learned the rest again from embeddings, and
	// is byte for byte the one that never saw what is forgotten.
	Relearned Way = "learned again"
	// Subtracted is exact up to rounding: nothing else depended on it, or the
	// rest was learned again from statistics.
	Subtracted Way = "subtracted"
	// Approximated leaves traces.
	Approximated Way = "approximated"
)

// Forgotten reports what was forgotten, and how.
type Forgotten struct {
	Way Way
	// Samples were forgotten; Learned were learned again.
	Samples, Learned int
}

// A NotLearnedError lists the samples that ForgetSamples did not find.
type NotLearnedError struct{ Paths []string }

func (e *NotLearnedError) Error() string {
	return fmt.Sprintf("%d of the samples were never learned, nothing was forgotten: %s", len(e.Paths), listed(e.Paths))
}

// ForgetClass removes a class and the record of its samples, so that they can
// be learned again. The model becomes the one that never saw them: it learns the
// rest again, session by session, if the embeddings are at hand, and otherwise
// subtracts the class if nothing else depends on it. If neither is possible the
// error wraps a *MissingRowsError. It wraps classifier.ErrUnknownClass for a
// class that the model does not have. Cost: that of training once. On error the
// model is unchanged.
func (m *Model) ForgetClass(ctx context.Context, name string, how Forgetting) (Forgotten, error) {
	return m.ForgetClasses(ctx, []string{name}, how)
}

// ForgetClasses is ForgetClass for several classes, for the cost of one.
func (m *Model) ForgetClasses(ctx context.Context, names []string, how Forgetting) (Forgotten, error) {
	names = slices.Clone(names)
	for i, name := range names {
		name = sameClass(m.Classes(), name)
		if names[i] = name; !slices.Contains(m.Classes(), name) {
			return Forgotten{}, fmt.Errorf("forget class %q: %w%s",
				name, classifier.ErrUnknownClass, suggest.Hint(name, m.Classes()))
		}
	}
	f, err := m.forgetClasses(ctx, set(names), how)
	if err != nil {
		return f, fmt.Errorf("forget %s: %w", listed(names), err)
	}
	return f, nil
}

// sameClass returns the class that a name means, whose Unicode form may differ.
func sameClass(classes []string, name string) string {
	if slices.Contains(classes, name) {
		return name
	}
	if form := norm.NFC.String(name); slices.Contains(classes, form) {
		return form
	}
	return dataset.Spelling(classes)(name)
}

func (m *Model) forgetClasses(ctx context.Context, names map[string]bool, how Forgetting) (Forgotten, error) {
	gone := map[SampleID][]float32{}
	for _, id := range m.Sessions.samples() {
		if names[id.Class] {
			gone[id] = nil
		}
	}
	words := m.Predictor.Words()
	if err := m.Predictor.dropWords(names); err != nil {
		return Forgotten{}, err
	}
	if len(gone) == 0 && words != nil {
		m.changed = true
		return Forgotten{Way: Subtracted}, m.Predictor.forgotten(ctx, m.Predictor.kept)
	}
	f, err := removal{m, gone, how}.do(ctx, func() error {
		if _, ok := m.Predictor.Head.(classifier.Forgetter); !ok {
			return fmt.Errorf("%s has no means of its own to forget: %w", m.Method, classifier.ErrUnsupported)
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if err := m.Predictor.Forget(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && words != nil {
		err = errors.Join(err, m.Predictor.Head.(gauss.WordUser).UseWords(words))
	}
	return f, err
}

// ForgetSamples removes single samples, as ForgetClass does; a class that loses
// its last sample vanishes. An empty label stands for the only class that the
// content was learned as. If any sample was not learned, the error is a
// *NotLearnedError and nothing changes.
func (m *Model) ForgetSamples(ctx context.Context, b Batch, how Forgetting) (Forgotten, error) {
	f, err := m.forgetSamples(ctx, b, how)
	if err != nil {
		return f, fmt.Errorf("forget samples: %w", err)
	}
	return f, nil
}

func (m *Model) forgetSamples(ctx context.Context, b Batch, how Forgetting) (Forgotten, error) {
	if err := b.validate(m.Dim()); err != nil {
		return Forgotten{}, err
	}
	b = b.spelled(m.Classes())
	rows, ids, err := m.Sessions.index().find(b)
	if err != nil {
		return Forgotten{}, err
	}
	x, labels, gone := b.rows(rows), make([]string, len(ids)), make(map[SampleID][]float32, len(ids))
	for i, id := range ids {
		labels[i], gone[id] = id.Class, dense.Row32(x, i)
	}
	return removal{m, gone, how}.do(ctx, func() error {
		if _, ok := m.Predictor.Head.(classifier.SampleForgetter); !ok {
			return fmt.Errorf("%s has no means of its own to forget single samples: %w", m.Method,
				classifier.ErrUnsupported)
		}
		return m.Predictor.ForgetSamples(x, labels)
	})
}

// A removal is what a call is to make a model forget.
type removal struct {
	*Model
	gone map[SampleID][]float32 // with their embeddings where these are known
	how  Forgetting
}

// do forgets; subtract does so by the head's own means.
func (r removal) do(ctx context.Context, subtract func() error) (Forgotten, error) {
	trace := r.trace()
	var missing *MissingRowsError
	if !r.how.Approximate {
		f, err := r.learnRest(ctx)
		switch {
		case err == nil || !errors.As(err, &missing):
			return f, err
		case trace != "":
			return Forgotten{}, fmt.Errorf("%s, so that the rest has to be learned again, but %w", trace, missing)
		}
	}
	r.statistics.restore(r.Predictor.Head)
	if err := subtract(); err != nil {
		err = r.statistics.explain(err)
		if missing != nil {
			err = fmt.Errorf("%w; to learn the rest again, %w", err, missing)
		}
		return Forgotten{}, err
	}
	r.Choice, r.changed = r.choice(), true
	r.Sessions.drop(r.gone, r.Classes())
	if trace == "" {
		return Forgotten{Way: Subtracted, Samples: len(r.gone)}, nil
	}
	r.Traces = len(r.Classes()) > 0
	return Forgotten{Way: Approximated, Samples: len(r.gone)}, nil
}

// trace says what the head's own means of forgetting would leave behind, "" for
// nothing. What classes share comes from the base session; a class otherwise
// depends only on its own samples.
func (r removal) trace() string {
	learned, forgotten := map[string]int{}, map[string]int{}
	base, touched := true, false
	for _, s := range r.Sessions {
		here := 0
		for _, id := range s.Samples {
			learned[id.Class]++
			if _, ok := r.gone[id]; ok {
				forgotten[id.Class]++
				here++
			}
		}
		touched = touched || here > 0
		switch {
		case here > 0 && base:
			return fmt.Sprintf("%d samples of the base session, from which everything that classes share was "+
				"estimated, are to be forgotten", here)
		case touched && s.Refreshed:
			return "super-classes were rebuilt with what is to be forgotten"
		}
		base = base && len(s.Samples) == 0
	}
	p := r.Predictor
	if p.kept == nil && (p.Calibration.Source == calibration.LeftOut || p.Calibration.Source == calibration.Simulated) {
		return "the model was calibrated with what is to be forgotten"
	}
	for class, n := range forgotten {
		all := learned[class]
		if p.kept != nil && n < all && all > mostKept(len(learned), r.Dim()) {
			return "the model is calibrated on a part of each class, which has to be chosen again"
		}
	}
	return ""
}

// choice returns the choice once some samples are forgotten: the method stays, as if it
// had been given, but nothing that was measured on them.
func (r removal) choice() *Choice {
	if len(r.Sessions) == 0 || r.Sessions[0].Index != 0 {
		return r.Choice
	}
	if slices.ContainsFunc(r.Sessions[0].Samples, in(r.gone)) {
		return r.Choice.withoutTrials()
	}
	return r.Choice
}
