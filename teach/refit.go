package teach

import (
	"context"
	"time"

	"github.com/seed-90d10d51/pipeline/model"
)

// refitIfDue begins a fit if there should be one; the caller holds mu.
func (s *Session) refitIfDue() {
	if s.refit.running || s.ctx.Err() != nil {
		return
	}
	want := s.state.examples()
	if !s.base.fits(want) {
		s.replace(nil)
		return
	}
	if s.live != nil && !s.live.stale && float64(len(want)) < max(1, growth*float64(s.refit.n)) {
		return
	}
	l, err := s.append(s.supplied(Line{Decision: Decision{Do: Refit}}))
	if err != nil {
		s.refit.err = err
		return
	}
	s.launch(l.Seq)
}

// launch begins the fit at a line in the background; the caller holds mu.
func (s *Session) launch(seq int) {
	s.refit.running = true
	s.working.Go(func() {
		s.options.Changed("refit")
		still, err := s.fitTo(s.ctx, seq, nil)
		var left leftOut
		if err == nil && still != nil {
			left, err = leaveOut(s.ctx, still.Model, still.have, s.lockedRow)
		}
		s.mu.Lock()
		s.refit.running, s.refit.err, s.left = false, err, left
		if err == nil || s.supplies() {
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
	lines := s.state.lines[:seq]
	s.mu.RUnlock()
	st := fold(lines, s.base.origin)
	want := st.examples()
	if enough(want) {
		s.mu.RLock()
		err = s.checkLacking(st)
		s.mu.RUnlock()
	}
	if err != nil {
		return nil, err
	}
	m, err := s.base.fit(ctx, st, want, s.lockedRow)
	if err != nil || m == nil {
		return nil, err
	}
	if written != nil {
		if err := written(m); err != nil {
			return nil, err
		}
	}
	l, err := newLive(m, want, s.options.Temp)
	if err == nil {
		still, err = l.frozen()
	}
	if err == nil {
		err = s.goLive(ctx, l, st, begun)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return still, nil
}

// goLive replaces the live model by one of a state, once that has scored all photos and
// followed the lines since.
func (s *Session) goLive(ctx context.Context, l *live, st *state, begun time.Time) error {
	seq, examples := len(st.lines), len(l.have)
	for range 3 { // what is added meanwhile is little, then less
		s.mu.RLock()
		n, since := len(s.photos), s.state.lines[len(st.lines):]
		s.mu.RUnlock()
		if err := l.extend(ctx, s.x, n); err != nil {
			return err
		}
		l.catchUp(ctx, s.x, st, since, s.lockedRow)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := l.extend(ctx, s.x, len(s.photos)); err != nil {
		return err
	}
	l.catchUp(ctx, s.x, st, s.state.lines[len(st.lines):], s.row)
	s.refit.seq, s.refit.n = seq, examples
	s.replace(l)
	s.refit.duration = time.Since(begun)
	s.touch()
	return nil
}

func (s *Session) lockedRow(id ID) []float32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.row(id)
}
