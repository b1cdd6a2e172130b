package must_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// An ended test notes why it ended.
type ended struct {
	testing.TB
	why string
}

func (e *ended) Helper()           {}
func (e *ended) Fatal(args ...any) { e.why = fmt.Sprint(args...) }

// TestMust: a test ends with the error, and without one goes on with the values.
func TestMust(t *testing.T) {
	broken := errors.New("broken")
	for _, err := range []error{nil, broken} {
		for what, do := range map[string]func(testing.TB) bool{
			"Do":   func(t testing.TB) bool { must.Do(t, err); return true },
			"Get":  func(t testing.TB) bool { return must.Get(7, err)(t) == 7 },
			"Get2": func(t testing.TB) bool { n, s := must.Get2(7, "x", err)(t); return n == 7 && s == "x" },
		} {
			e := &ended{TB: t}
			if want := err != nil; !do(e) || (e.why == "broken") != want || (e.why != "") != want {
				t.Errorf("%s, %v: the test ended with %q", what, err, e.why)
			}
		}
	}
}
