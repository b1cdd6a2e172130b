package gpr

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
)

// A counted context is cancelled after a number of looks at it.
type counted struct {
	context.Context
	left atomic.Int64
}

func after(looks int64) *counted {
	c := &counted{Context: context.Background()}
	c.left.Store(looks)
	return c
}

func (c *counted) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancelled: whatever takes O(n²) or longer leaves the regression as it was
// if its context is cancelled, at any of its looks at it. What takes O(n³) looks
// at least once for each panel of 64 rows.
func TestCancelled(t *testing.T) {
	const n, k, C = leastBlocked + 33, 70, 40
	x, y := drawnExamples(n+k, 5, C)
	rows := rowsOf
	operations := map[string]func(context.Context, *Regression) error{
		"add": func(ctx context.Context, r *Regression) error {
			return r.Add(ctx, rows(x, n, k), rows(y, n, k))
		},
		"add outputs": func(ctx context.Context, r *Regression) error { return r.AddOutputs(ctx, rows(y, 0, n)) },
		"set inputs": func(ctx context.Context, r *Regression) error {
			return r.SetInputs(ctx, dense.Range(0, 9), rows(x, n, 9))
		},
		"set targets": func(ctx context.Context, r *Regression) error {
			return r.SetTargets(ctx, dense.Range(0, 9), rows(y, n, 9))
		},
		"remove":  func(ctx context.Context, r *Regression) error { return r.Remove(ctx, dense.Range(0, 9)) },
		"refresh": func(ctx context.Context, r *Regression) error { return r.Refresh(ctx) },
	}
	methods := []Method{Cholesky, Direct, Iterative}
	if testing.Short() {
		methods = methods[:1]
	}
	for _, method := range methods {
		everywhere(t, func(t *testing.T, m linalg.Backend) {
			r := fittedBy(t, method, m, x, y, n)
			for name, do := range operations {
				cancelledAnywhere(t, fmt.Sprintf("%s: %s", method, name), 1, r, do)
			}
			if method == Cholesky { // the other two hold the inverse
				cancelledAnywhere(t, "leave one out", n/side, r, func(ctx context.Context, r *Regression) error {
					_, err := r.LeaveOneOut(ctx)
					return err
				})
			}
		})
	}
}

// TestCancelledFit is TestCancelled for the first examples.
func TestCancelledFit(t *testing.T) {
	const n = leastBlocked + 33
	x, y := drawnExamples(n, 5, 40)
	for _, method := range []Method{Cholesky, Direct} {
		everywhere(t, func(t *testing.T, m linalg.Backend) {
			empty := must.Get(New(RBF{Lengthscale: 2, Outputscale: 1}, Config{Method: method, Noise: 0.03}))(t)
			empty.UseBackend(m)
			cancelledAnywhere(t, string(method), n/side, empty,
				func(ctx context.Context, r *Regression) error { return r.Add(ctx, x, y) })
		})
	}
}

func everywhere(t *testing.T, do func(t *testing.T, m linalg.Backend)) {
	t.Run("gonum", func(t *testing.T) { do(t, linalg.Backend{}) })
	nativetest.Each(t, do)
}

// cancelledAnywhere cancels an operation on copies of r at its first and last
// looks and at some in between. It takes at least least looks.
func cancelledAnywhere(t *testing.T, what string, least int64, r *Regression,
	do func(context.Context, *Regression) error) {
	t.Helper()
	const plenty = 1 << 40
	whole := after(plenty)
	must.Do(t, do(whole, r.Clone()))
	looks, before := plenty-whole.left.Load(), r.Clone().Snapshot()
	if looks < least {
		t.Errorf("%s: %d looks at the context, want %d", what, looks, least)
	}
	for _, at := range []int64{1, looks / 4, looks / 2, looks} {
		c := r.Clone()
		if err := do(after(at-1), c); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled at look %d of %d: %v", what, at, looks, err)
		} else if !reflect.DeepEqual(c.Snapshot(), before) || !reflect.DeepEqual(examples(c), examples(r)) {
			t.Errorf("%s: cancelled at look %d of %d it is not what it was", what, at, looks)
		}
	}
}

func examples(r *Regression) [2]blas64.General { return [2]blas64.General{r.x.General, r.t} }
