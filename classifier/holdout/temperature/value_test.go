package temperature_test

import (
	"math"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
)

// T goes from that of base classes alone to that of pseudo-sessions, and no further.
func TestWith(t *testing.T) {
	cfg := episodes.DefaultConfig()
	v := &temperature.Value{T: 8, Alone: 8, Later: 2, Config: &cfg}
	for share, want := range map[float64]float64{0: 8, cfg.NovelShare / 2: 4, cfg.NovelShare: 2, 0.9: 2} {
		if got := v.With(share).T; math.Abs(got-want) > 1e-12 {
			t.Errorf("share %g: T = %g, want %g", share, got, want)
		}
	}
	if v.T != 8 {
		t.Errorf("the value itself changed to %g", v.T)
	}
	one := &temperature.Value{T: 3, Config: &cfg}
	if one.With(0.4).T != 3 || (*temperature.Value)(nil).With(0.4) != nil {
		t.Error("a value without stages follows the share")
	}
}

func TestCheckStages(t *testing.T) {
	cfg := episodes.DefaultConfig()
	for name, v := range map[string]*temperature.Value{
		"no pseudo-sessions": {T: 8, Alone: 8, Later: 2},
		"no later":           {T: 8, Alone: 8, Config: &cfg},
		"not a number":       {T: 8, Alone: math.NaN(), Later: 2, Config: &cfg},
		"bad share":          {T: 8, Alone: 8, Later: 2, Config: &episodes.Config{}},
	} {
		if v.Check(temperature.Config{}, true) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := (&temperature.Value{T: 8, Alone: 8, Later: 2, Config: &cfg}).Check(temperature.Config{},
		true); err != nil {
		t.Error(err)
	}
}
