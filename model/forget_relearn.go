package model

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/model/classstats"
)

// A MissingRowsError says how many embeddings are missing to learn the rest of a
// model again.
type MissingRowsError struct {
	// Missing and Of count samples, Sessions those of each session that lacks any.
	Missing, Of int
	Sessions    []string
}

func (e *MissingRowsError) Error() string {
	return fmt.Sprintf("%d of the %d embeddings are missing: %s", e.Missing, e.Of, listed(e.Sessions))
}

// A sessionRows is what a session is learned from: embeddings, or statistics of
// classes.
type sessionRows struct {
	Session
	x       blas32.General
	taken   []holdout.Taken // nil if nothing is known
	classes []classstats.Class
}

func (l sessionRows) labels() []string {
	y := make([]string, len(l.Samples))
	for i, id := range l.Samples {
		y[i] = id.Class
	}
	return y
}

// learnRest makes the model the one that has never seen what is gone: a new Predictor
// learns the sessions without it. The error wraps a *MissingRowsError if embeddings are
// missing; on error the model is unchanged.
func (r removal) learnRest(ctx context.Context) (Forgotten, error) {
	lessons := r.Sessions.without(r.gone)
	subtracted, err := r.prepare(ctx, lessons)
	if err != nil {
		return Forgotten{}, err
	}
	next, err := r.Predictor.untrained(r.how.Checkpoint)
	if err != nil {
		return Forgotten{}, err
	}
	products := next.env.Backend
	next.env = r.how.Env
	next.env.Backend = products
	switch {
	case len(lessons) == 0:
	case r.keepsProjection(lessons[0]):
		next.Projection, next.Comparison = r.Predictor.Projection, r.Predictor.Comparison
	case next.Views() > 0 && next.env.Views == nil:
		return Forgotten{}, phrase.New("the projection has to be trained again, on %d augmented views of every "+
			"image: give the images with {images}", next.Views())
	}
	sessions, err := next.learnAll(ctx, lessons, r.Dim())
	if err != nil {
		return Forgotten{}, fmt.Errorf("learn the rest again: %w", err)
	}
	next.fresh = r.Predictor.fresh
	f := Forgotten{Way: Relearned, Samples: len(r.gone), Learned: r.SampleCount() - len(r.gone)}
	if subtracted {
		f.Way = Subtracted
	}
	r.Choice = r.choice()
	r.Predictor, r.Sessions, r.Traces, r.changed = next, sessions, false, true
	r.statistics.tried, r.statistics.problem = true, nil // the head has all of them
	return f, nil
}

// keepsProjection reports whether training on the base session would give the
// projection that there is, or again decide against one.
func (r removal) keepsProjection(base sessionRows) bool {
	p := r.Predictor
	if p.Projection == nil && p.Comparison == nil || r.Traces || p.Projection != nil && p.dkl.HandsOver(p.Head) {
		return false
	}
	first := slices.IndexFunc(r.Sessions, func(s Session) bool { return s.Count() > 0 })
	return slices.Equal(r.Sessions[first].Samples, base.Samples)
}

// learnAll learns the lessons, of embeddings of d values, and returns their sessions.
func (p *Predictor) learnAll(ctx context.Context, lessons []sessionRows, d int) (History, error) {
	classes := map[string]bool{}
	for _, l := range lessons {
		for _, id := range l.Samples {
			classes[id.Class] = true
		}
	}
	keeps := mostKept(len(classes), d) >= 2
	var sessions History
	taught := map[string]bool{}
	for i, l := range lessons {
		before, y := p.taught(taught), l.labels()
		maps.Copy(taught, set(y))
		var err error
		if l.classes != nil {
			err = p.learnMoments(ctx, p.Head.(moments.Learner), l.classes)
		} else {
			more := keeps && i+1 < len(lessons) && lessons[i+1].classes == nil
			err = p.learn(ctx, episodes.Episode{X: l.x, Y: y, Taken: l.taken}, more)
		}
		r, ok := p.Head.(classifier.Refresher)
		if ok && err == nil && l.Refreshed {
			err = r.Refresh(ctx)
		}
		if err != nil {
			return nil, err
		}
		l.Index = i
		l.NewClasses, _ = split(p.Classes(), before, y)
		sessions = append(sessions, l.Session)
	}
	return sessions, nil
}

// prepare gives every lesson its embeddings or, where it was learned from
// statistics, these. It reports whether any of them were subtracted from others.
func (r removal) prepare(ctx context.Context, lessons []sessionRows) (subtracted bool, err error) {
	rows := r.Predictor.kept.bySample(r.Sessions)
	missing := map[Hash]bool{}
	for i := range lessons {
		l := &lessons[i]
		if l.FromStatistics {
			if l.classes, err = r.subtract(l.Session); err != nil {
				return false, err
			}
			subtracted = subtracted || l.classes != nil
		}
		for _, id := range l.Samples {
			if rows[id].x == nil && l.classes == nil {
				missing[id.Content] = true
			}
		}
	}
	var found map[Hash][]float32
	if len(missing) > 0 && r.how.Rows != nil {
		if found, err = r.how.Rows(ctx, maps.Clone(missing)); err != nil {
			return false, err
		}
	}
	lacking := &MissingRowsError{}
	for i := range lessons {
		if l := &lessons[i]; l.classes == nil {
			l.gather(rows, found, r.Dim(), lacking)
		}
	}
	if lacking.Missing > 0 {
		return false, lacking
	}
	return subtracted, r.collect(lessons)
}

// gather sets x to the embeddings of the samples, or adds to what is lacking.
func (l *sessionRows) gather(rows map[SampleID]keptRow, found map[Hash][]float32, d int, lacking *MissingRowsError) {
	l.x = blas32.General{Rows: len(l.Samples), Cols: d, Stride: d, Data: make([]float32, 0, len(l.Samples)*d)}
	lost := 0
	for _, id := range l.Samples {
		row := rows[id].x
		if row == nil {
			row = found[id.Content]
		}
		l.taken = append(l.taken, rows[id].taken)
		if len(row) != d {
			lost++
		}
		l.x.Data = append(l.x.Data, row...)
	}
	l.taken = holdout.Told(l.taken)
	lacking.Of += len(l.Samples)
	if lacking.Missing += lost; lost > 0 {
		lacking.Sessions = append(lacking.Sessions, fmt.Sprintf("%d of session %d", lost, l.Index+1))
	}
}

// collect replaces the embeddings of sessions that were learned from statistics
// by their statistics.
func (r removal) collect(lessons []sessionRows) error {
	for i := range lessons {
		l := &lessons[i]
		head, ok := r.Predictor.Head.(moments.Learner)
		if !ok || !l.FromStatistics || l.classes != nil {
			continue
		}
		s := classstats.New(l.x.Cols, head.TakesUnit())
		for j, id := range l.Samples {
			if _, err := s.Add(id, dense.Row32(l.x, j)); err != nil {
				return err
			}
		}
		var err error
		if l.classes, err = s.Except(func(SampleID) bool { return false }); err != nil {
			return err
		}
	}
	return nil
}

// subtract returns the statistics of a session without what is gone, nil if
// neither the given statistics nor those of the head have the session.
func (r removal) subtract(s Session) ([]classstats.Class, error) {
	head, ok := r.Predictor.Head.(moments.Learner)
	if !ok {
		return nil, nil
	}
	sources := [][]classstats.Class{r.ownStatistics()}
	for _, g := range r.how.Statistics {
		if err := r.Accepts(g.Source()); err != nil {
			return nil, err
		}
		if g.Unit != head.TakesUnit() {
			return nil, phrase.New("the statistics are not those that the model was trained on: collect them again " +
				"with the same {raw}")
		}
		all, err := g.Except(func(SampleID) bool { return false })
		if err != nil {
			return nil, err
		}
		sources = append(sources, all)
	}
	rest := make(map[SampleID]bool, len(s.Samples))
	for _, id := range s.Samples {
		rest[id] = true
	}
	for _, all := range sources {
		if classes, err := reduced(all, rest, r.gone, head.TakesUnit()); classes != nil || err != nil {
			return classes, err
		}
	}
	return nil, nil
}

// ownStatistics returns the statistics that the head keeps of classes, as far as
// these were learned in a single session.
func (r removal) ownStatistics() []classstats.Class {
	head, ok := r.Predictor.Head.(moments.Keeper)
	if !ok {
		return nil
	}
	r.statistics.restore(r.Predictor.Head)
	content, sessions := map[string][]Hash{}, map[string]int{}
	for i, id := range r.Sessions.samples() {
		if len(content[id.Class]) > 0 && sessions[id.Class] != i {
			sessions[id.Class] = -1
			continue
		}
		content[id.Class] = append(content[id.Class], id.Content)
		sessions[id.Class] = i
	}
	var classes []classstats.Class
	for _, name := range r.Classes() {
		stats := head.Moments(name)
		if stats != nil && sessions[name] >= 0 {
			classes = append(classes, classstats.Class{Name: name, Moments: stats, Content: content[name]})
		}
	}
	return classes
}

// reduced returns statistics of exactly the samples in rest, nil if that is
// impossible: if some are not counted, or others are whose embeddings are not in
// gone.
func reduced(all []classstats.Class, rest map[SampleID]bool, gone map[SampleID][]float32,
	unit bool) ([]classstats.Class, error) {
	var out []classstats.Class
	counted := 0
	for _, c := range all {
		kept := classstats.Class{Name: c.Name, Moments: c.Moments}
		var removed blas32.General
		for _, h := range c.Content {
			id := SampleID{Content: h, Class: c.Name}
			if rest[id] {
				kept.Content = append(kept.Content, h)
				continue
			}
			removed.Rows, removed.Cols = removed.Rows+1, len(gone[id])
			removed.Data = append(removed.Data, gone[id]...)
		}
		switch {
		case len(kept.Content) == 0:
			continue
		case removed.Rows > 0 && (removed.Cols == 0 || len(removed.Data) != removed.Rows*removed.Cols):
			return nil, nil
		case removed.Rows > 0:
			removed.Stride = removed.Cols
			if unit {
				removed = classifier.UnitRows(removed, dense.Range(0, removed.Rows))
			}
			kept.Moments = c.Moments.Clone()
			if err := kept.Moments.Remove(removed); err != nil {
				return nil, err
			}
		}
		counted += len(kept.Content)
		out = append(out, kept)
	}
	if counted != len(rest) {
		return nil, nil
	}
	return out, nil
}
