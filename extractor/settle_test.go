package extractor

import (
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// mapOf sets extractor.map.
func mapOf(order string) func(*Config) { return func(c *Config) { c.Map = order } }

// TestSettle: what auto means is found by the shape of the output, or asked for.
func TestSettle(t *testing.T) {
	for name, c := range map[string]struct {
		model       string
		change      func(*Config)
		pool, order string // of the settled configuration
		why         string
	}{
		"a vector":           {"nchw", nil, Auto, "", "one vector of 4 values"},
		"channels first":     {"map_first", nil, Auto, "", "a map of 4 channels (chw, 2 pixels a side): their mean"},
		"channels last":      {"map_last", nil, Auto, MapHWC, "a map of 4 channels (hwc, 2 pixels a side): their mean"},
		"last, maximum":      {"map_last", pool(PoolMax), PoolMax, MapHWC, "their maximum"},
		"last, flat":         {"map_last", pool(PoolNone), PoolNone, "", "flattened"},
		"a cube, said":       {"map", mapOf(MapCHW), Auto, MapCHW, "(chw, 4 pixels a side)"},
		"patches":            {"tokens", nil, PoolMean, "", "none is a class token: their mean"},
		"patches, one said":  {"tokens", token(3), Auto, "", "token 3"},
		"patches, the first": {"tokens", pool(PoolToken), PoolToken, "", "token 0"},
		"class token":        {"tokens_class", nil, Auto, "", "1 more than a square of 4×4 patches: the first"},
		"registers":          {"tokens_registers", nil, Auto, "", "5 more than a square of 4×4 patches: the first"},
		"odd, said":          {"tokens_odd", pool(PoolMean), PoolMean, "", "their mean"},
		"image and text":     {"pair", nil, Auto, "", `output "image_embeds" is one vector`},
		"named":              {"pair", output("image_embeds"), Auto, "", `output "image_embeds" is one vector`},
	} {
		s, err := openTiny(t, c.model, c.change).Settle()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Config.Pool != c.pool || s.Config.Map != c.order || !strings.Contains(s.Why, c.why) {
			t.Errorf("%s: pool %q, map %q: %s", name, s.Config.Pool, s.Config.Map, s.Why)
		}
	}
	for model, want := range map[string]string{
		"map": "Set extractor.map to chw or hwc", "tokens_odd": "set extractor.pool",
		"tokens_register": "registers but no class token: set extractor.pool to mean",
	} {
		if _, err := openTiny(t, model, nil).Settle(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", model, err, want)
		}
	}
}

// TestSettledMap: a map in another order than the input is pooled over its pixels.
func TestSettledMap(t *testing.T) {
	pixels := make([]float32, 3*4*4)
	for i := range pixels {
		pixels[i] = float32(i % 7)
	}
	first, last := newMatrix(1, 4), newMatrix(1, 4)
	must.Do(t, openTiny(t, "map_first", nil).Extract(first, pixels))
	must.Do(t, openTiny(t, "map_last", mapOf(MapHWC)).Extract(last, pixels))
	for i, v := range first.Data {
		if last.Data[i] != v {
			t.Fatalf("channels first %v, last %v", first.Data, last.Data)
		}
	}
}

func TestSeveralInputsRefused(t *testing.T) {
	for output, want := range map[string]string{
		"logits": "image_embeds float32", "text_embeds": "image_embeds float32", Penultimate: "image_embeds float32",
		"nothing": "image_embeds float32",
	} {
		_, err := tryTiny(t, "pair", func(c *Config) { c.Output = output })
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "extractor.output") {
			t.Errorf("%s: %v", output, err)
		}
	}
}
