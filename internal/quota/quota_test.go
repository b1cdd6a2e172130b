package quota

import (
	"errors"
	"math"
	"testing"
)

// TestQuota: what exceeds it is refused and takes nothing, whatever the number.
func TestQuota(t *testing.T) {
	q := New(100)
	for _, c := range []struct {
		n, most int64
		ok      bool
	}{{60, 60, true}, {41, 60, false}, {40, 100, true}, {1, 100, false}, {0, 100, true}, {-1, 100, false},
		{math.MaxInt64, 100, false}} {
		if err := q.Take(c.n); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrExceeded) ||
			q.Most() != c.most {
			t.Errorf("%d: %v, %d at most", c.n, err, q.Most())
		}
	}
	q.Give(60)
	if err := q.Take(60); err != nil || q.Most() != 100 {
		t.Errorf("after 60 were given back: %v, %d at most", err, q.Most())
	}
}
