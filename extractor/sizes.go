package extractor

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Sizes of the runs of a model that leaves its batch size free.
const (
	most       = 4  // photos a run
	alone      = 32 // photos before anything is tried, so that short jobs pay nothing
	trialCalls = 6  // timed calls of each size
)

// sizes chooses how many photos share a run. Which number is fastest depends on the
// model and on the processor, by some per cent: each is tried, if its embeddings are
// those of photos run one by one, to the last bit. Then a row does not depend on its
// neighbours or on the choice. The shapes alone fix the order of a run's sums, so one
// comparison decides for one side of the photos.
type sizes struct {
	mu     sync.Mutex
	photos int // embedded so far, while that is at most alone
	trials []trial
}

// A trial is what is known of a run of that many photos.
type trial struct {
	rows     int
	compared bool
	calls    int
	best     time.Duration // of the timed calls; infinite before the first
}

func newSizes() sizes {
	const never = math.MaxInt64
	return sizes{trials: []trial{{rows: 1, compared: true, best: never}, {rows: 2, best: never},
		{rows: most, best: never}}}
}

// next returns the size of the runs of a call of n photos, and whether it has still
// to be compared with runs of one.
func (s *sizes) next(n int) (rows int, compared bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.photos <= alone {
		s.photos += n
		return 1, true
	}
	if n == most {
		if i := slices.IndexFunc(s.trials, func(t trial) bool { return t.calls < trialCalls }); i >= 0 {
			return s.trials[i].rows, s.trials[i].compared
		}
	}
	best := slices.MinFunc(s.trials, func(a, b trial) int { return cmp.Compare(a.best, b.best) })
	return best.rows, true
}

// find returns the index of the trial of runs of that size, −1 if it was refused.
func (s *sizes) find(rows int) int {
	return slices.IndexFunc(s.trials, func(t trial) bool { return t.rows == rows })
}

// timed records how long a call of the most photos took with runs of that size.
func (s *sizes) timed(rows int, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.find(rows)
	if i < 0 || s.trials[i].calls == trialCalls {
		return
	}
	t := &s.trials[i]
	t.best = min(t.best, took)
	t.calls++
}

// settle records whether runs of that size give the embeddings of runs of one.
func (s *sizes) settle(rows int, same bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.find(rows)
	switch {
	case i < 0: // another call was faster to refuse it
	case same:
		s.trials[i].compared = true
	default:
		s.trials = slices.Delete(s.trials, i, i+1)
	}
}

// inRuns embeds photos by runs of the size that sizes chooses.
func (e *Extractor) inRuns(side int, dst blas32.General, pixels []float32) error {
	rows, compared := e.sizes.next(dst.Rows)
	if !compared {
		return e.compare(rows, side, dst, pixels)
	}
	begin := time.Now()
	err := e.runsOf(rows, side, dst, pixels)
	if dst.Rows == most && err == nil {
		e.sizes.timed(rows, time.Since(begin))
	}
	return err
}

// runsOf embeds photos by runs of that many, the last photos one by one.
func (e *Extractor) runsOf(rows, side int, dst blas32.General, pixels []float32) error {
	var bad error
	photo := 3 * side * side
	for first := 0; first < dst.Rows; first += rows {
		if first+rows > dst.Rows {
			rows = 1
		}
		err := e.run(shape{rows, side}, dense.Rows32(dst, first, first+rows), pixels[first*photo:(first+rows)*photo])
		var notFinite *NonFiniteError
		switch {
		case errors.As(err, &notFinite):
			notFinite.Row += first
			bad = cmp.Or(bad, err)
		case err != nil:
			return err
		}
	}
	return bad
}

// compare embeds photos one by one and in runs of that many, and settles whether
// those may be used. A model may fail on several photos though it leaves their number
// open.
func (e *Extractor) compare(rows, side int, dst blas32.General, pixels []float32) error {
	if err := e.runsOf(1, side, dst, pixels); err != nil {
		return err
	}
	together := dense.New32(dst.Rows, dst.Cols)
	same := e.runsOf(rows, side, together, pixels) == nil
	for i := range dst.Rows {
		same = same && slices.Equal(dense.Row32(together, i), dense.Row32(dst, i))
	}
	e.sizes.settle(rows, same)
	return nil
}
