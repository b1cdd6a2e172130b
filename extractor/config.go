package extractor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/ort"
)

// Layouts, pools and the special output name of Config.
const (
	Auto        = "auto"
	LayoutNCHW  = "nchw"
	LayoutNHWC  = "nhwc"
	PoolMean    = "mean"
	PoolMax     = "max"
	PoolNone    = "none"
	PoolToken   = "token"
	MapCHW      = "chw"
	MapHWC      = "hwc"
	Penultimate = "penultimate"
)

// maxBatch and maxSide bound the memory of one run.
const (
	maxBatch    = 1024
	maxSide     = 4096
	defaultSide = 224 // tried if model and configuration leave the side open
)

// Config configures a backbone. The zero value of each field means "detect", and of Provider
// the processor.
type Config struct {
	// Provider is the hardware backend: cpu, cuda, coreml or openvino.
	Provider string `json:"provider"`
	// Input names the image input; "" detects it.
	Input string `json:"input"`
	// Output names the tensor to read; "" detects it, "penultimate" is the
	// input of the last linear layer.
	Output string `json:"output"`
	// Layout of the input (and of a spatial output): auto, nchw or nhwc.
	Layout string `json:"layout"`
	// Pool reduces maps and tokens to one vector: auto (mean of a map, one
	// token of a sequence), mean, max, token, or none (flattened).
	Pool string `json:"pool"`
	// Token is the token that pool auto or token takes from [n,T,d]; 0 is CLS.
	Token int `json:"token"`
	// Map is the order of a spatial output: chw or hwc; "" is that of the input's
	// layout. Settle finds it.
	Map string `json:"map,omitempty"`
	// Batch is the number of photos per run of the model; 0 means the model's
	// fixed batch size, or if it has none the fastest of 1, 2 and 4 that give the
	// same bits, and 32 with a provider other than cpu.
	Batch int `json:"batch"`
	// Side is the input side in pixels for models that leave it open; 0 accepts
	// the side of each call.
	Side int `json:"side"`
}

// DefaultConfig returns a configuration that works for most exported backbones.
func DefaultConfig() Config {
	return Config{Provider: string(ort.CPU), Layout: Auto, Pool: Auto}
}

// Resolved returns the configuration with the names of what is detected.
func (c Config) Resolved() Config {
	standard := DefaultConfig()
	c.Provider, c.Layout = cmp.Or(c.Provider, standard.Provider), cmp.Or(c.Layout, standard.Layout)
	c.Pool = cmp.Or(c.Pool, standard.Pool)
	return c
}

// Validate returns an error that names the first field out of range.
func (c Config) Validate() error {
	if _, err := ort.ParseProvider(c.Provider); err != nil {
		return fmt.Errorf("extractor.%w", err)
	}
	err := cmp.Or(
		oneOf("layout", c.Layout, Auto, LayoutNCHW, LayoutNHWC),
		oneOf("pool", c.Pool, Auto, PoolMean, PoolMax, PoolToken, PoolNone),
		oneOf("map", c.Map, "", MapCHW, MapHWC),
		inRange("token", c.Token, 1<<20),
		inRange("batch", c.Batch, maxBatch),
		inRange("side", c.Side, maxSide),
	)
	if err == nil && c.Token > 0 && c.Pool != Auto && c.Pool != PoolToken {
		err = fmt.Errorf("extractor.token %d: only pool auto picks a token, or pool token, and pool is %q",
			c.Token, c.Pool)
	}
	return err
}

func oneOf(key, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("extractor.%s %q: not one of %s", key, value, strings.Join(allowed, ", "))
}

func inRange(key string, value, most int) error {
	if value < 0 || value > most {
		return fmt.Errorf("extractor.%s %d: not in 0…%d", key, value, most)
	}
	return nil
}
