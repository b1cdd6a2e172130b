package setting_test

import (
	"math"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/setting"
)

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{setting.Int("q", 0, 0, 3), ""},
		{setting.Int("q", 3, 0, 3), ""},
		{setting.Int("q", -1, 0, 3), "q: -1 is outside 0 … 3"},
		{setting.Int("q", 4, 0, 3), "q: 4 is outside 0 … 3"},
		{setting.Float("rate", 0.5, 0, 0.5), ""},
		{setting.Float("rate", 0.6, 0, 0.5), "rate: 0.6 is outside 0 … 0.5"},
		{setting.Float("rate", math.NaN(), 0, 0.5), "rate: NaN is outside 0 … 0.5"},
		{setting.OneOf("kind", "b", "a", "b"), ""},
		{setting.OneOf("kind", "c", "a", "b"), `kind: "c" is neither a nor b`},
		{setting.OneOf("kind", "d", "a", "b", "c"), `kind: "d" is none of a, b and c`},
	} {
		if got := c.err; (got == nil) != (c.want == "") || got != nil && got.Error() != c.want {
			t.Errorf("%v, want %q", got, c.want)
		}
	}
}
