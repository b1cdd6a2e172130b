package pldaplus

import (
	"cmp"
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/kit/classtable"
)

// Load returns the head that Save described, without statistics; the state must
// belong to the named method.
func Load(method string, s classifier.State) (*Head, error) {
	return classtable.Load(method, s, func(cfg Config) (*Head, error) { return New(method, cfg) })
}

// fields describes the tensors of a class: those of its total, "base" (1 or 0),
// "components", "residual" and, stacked over the classes, "values" and
// "vectors" (×d, float32); "logits" (d+1) of base classes if the setting
// reranks them.
func (cfg Config) fields(c *classifier.Codec, m *model, class *class) {
	d, own := m.Dim, &class.own
	k := len(own.values)
	class.Total.Fields(c, d)
	c.Bool("base", &class.base)
	c.Int("components", &k, 0, min(cfg.Q, d))
	c.Number("residual", &own.residual)
	c.Rows64("values", &own.values, k)
	c.Rows32("vectors", &own.vectors, k, d)
	ranked := 0
	if class.base && m.Shared.Setting.Rerank > 0 {
		ranked = 1
	}
	c.Rows64("logits", &class.logit, ranked, d+1)
	if !c.Reading() {
		return
	}
	for _, v := range append(own.values[:k:k], own.residual) {
		if !(v >= 0 && v <= math.MaxFloat32) {
			c.Fail(fmt.Errorf("tensors values and residual: %g is not a variance", v))
		}
	}
}

func (cfg Config) decode(m *model, s classifier.State, _ int) error {
	sh := &m.Shared
	if err := sh.check(cfg); err != nil {
		return err
	}
	return sh.Load(s, m.Dim, !cfg.Uncertain, cfg.MeanLength)
}

// check returns an error unless the setting belongs to the configuration.
func (sh *shared) check(c Config) error {
	if err := cmp.Or(sh.Check(), checkSetting(sh.Setting)); err != nil {
		return err
	}
	if c.chooses() != (sh.Choice != nil) {
		return fmt.Errorf("the configuration does not match the recorded choice")
	}
	if sh.Choice == nil {
		if sh.Setting != plain(c.Nu) {
			return fmt.Errorf("setting %+v differs from the configuration", sh.Setting)
		}
		return nil
	}
	if sh.Choice.Value != sh.Setting {
		return fmt.Errorf("setting %+v is not the chosen one", sh.Setting)
	}
	if err := episodes.Valid(*sh.Choice, checkSetting); err != nil {
		return fmt.Errorf("choice: %w", err)
	}
	return nil
}
