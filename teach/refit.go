package teach

import (
	"context"
	"maps"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/model"
)

// refitIfDue begins a fit if there should be one; the caller holds mu.
func (s *Session) refitIfDue() {
	if s.refit.running || s.ctx.Err() != nil {
		return
	}
	want := s.state.examples()
	if !enough(want) {
		s.drop()
		return
	}
	if s.live != nil && !s.live.stale && float64(len(want)) < growth*float64(s.refit.n) {
		return
	}
	l, err := s.append(Line{Do: Refit})
	if err != nil {
		s.refit.err = err
		return
	}
	s.launch(l.Seq)
}

// drop goes back to no model.
func (s *Session) drop() {
	if s.scores != nil {
		_ = s.scores.phi.close() // it has no name any more
	}
	s.live, s.scores = nil, nil
}

// launch begins the fit at a line in the background; the caller holds mu.
func (s *Session) launch(seq int) {
	s.refit.running = true
	s.working.Go(func() {
		s.options.Changed("refit")
		still, err := s.fitTo(s.ctx, seq, nil)
		var left leftOut
		if err == nil && still != nil {
			left, err = still.leaveOut(s.ctx, s.lockedRow)
		}
		s.mu.Lock()
		s.refit.running, s.refit.err, s.left = false, err, left
		if err == nil {
			s.refitIfDue()
		}
		s.mu.Unlock()
		s.options.Changed("refit")
	})
}

// fitTo fits the model to the lines up to seq, calls written with it, and makes it
// the live one after it has followed the lines since. It returns a copy that follows
// no line; nil if there is no model.
func (s *Session) fitTo(ctx context.Context, seq int, written func(*model.Model) error) (still *live, err error) {
	s.fitting.Lock()
	defer s.fitting.Unlock()
	begun := time.Now()
	s.mu.RLock()
	lines := s.state.lines[:seq:seq]
	s.mu.RUnlock()
	st := fold(lines, s.base.origin)
	want := st.examples()
	m, err := s.base.fit(ctx, st, want, s.lockedRow)
	if err != nil || m == nil {
		return nil, err
	}
	if written != nil {
		if err := written(m); err != nil {
			return nil, err
		}
	}
	l := newLive(m, want)
	still, err = twin(l)
	if err != nil {
		return nil, err
	}
	sc := newScores(l)
	if l.linear != nil {
		phi, err := m.Predictor.Features(blas32.General{Rows: 0, Cols: m.Dim(), Stride: m.Dim()})
		if err != nil {
			return nil, err
		}
		if sc.phi, err = newRows(s.options.Temp, phi.Cols); err != nil {
			return nil, err
		}
	}
	for range 3 { // what is added meanwhile is little, then less
		s.mu.RLock()
		n := len(s.photos)
		s.mu.RUnlock()
		if err := s.scoreRange(ctx, l, sc, sc.len(), n); err != nil {
			_ = sc.phi.close()
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.extendScores(ctx, l, sc); err != nil {
		_ = sc.phi.close()
		return nil, err
	}
	s.catchUp(l, sc, seq)
	s.drop()
	s.live, s.scores = l, sc
	s.refit.seq, s.refit.n, s.refit.duration = seq, len(want), time.Since(begun)
	s.touch()
	return still, nil
}

func (s *Session) lockedRow(id ID) []float32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.row(id)
}

// catchUp lets a model follow the lines after seq, one by one as they came.
func (s *Session) catchUp(l *live, sc *scores, seq int) {
	lines := s.state.lines
	then, changed := fold(lines[:seq], s.base.origin), map[string]bool{}
	for _, line := range lines[seq:] {
		then.take(line)
		if line.changes() {
			maps.Copy(changed, l.follow(then.examples(), s.row))
		}
	}
	s.rescore(l, sc, changed)
}
