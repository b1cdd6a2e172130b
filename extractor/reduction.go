package extractor

import "fmt"

// A reduction turns one photo's part of the model's output into its embedding:
// channel c of the embedding is the value, mean or maximum over positions p of
// part[offset + c·channelStride + p·positionStride].
type reduction struct {
	partLen        int // values per photo in the output
	offset         int
	channels       int // = d
	positions      int
	channelStride  int
	positionStride int
	max            bool
}

// newReduction chooses a reduction for an output shape, batch axis first.
func newReduction(shape []int64, batch int, layout string, cfg Config) (reduction, error) {
	if len(shape) == 1 && batch == 1 { // exported from the code of one picture
		shape = []int64{1, shape[0]}
	}
	if len(shape) < 2 || shape[0] != int64(batch) {
		return reduction{}, fmt.Errorf("output shape %v for %d photos: does not have one row per photo: set "+
			"extractor.output to another tensor", shape, batch)
	}
	partLen := 1
	for _, n := range shape[1:] {
		partLen *= int(n)
	}
	if partLen < 1 {
		return reduction{}, fmt.Errorf("output shape %v: empty: set extractor.output to another tensor", shape)
	}
	r := reduction{partLen: partLen, channels: partLen, positions: 1, channelStride: 1, max: cfg.Pool == PoolMax}
	if len(shape) == 2 || cfg.Pool == PoolNone {
		return r, nil
	}
	switch len(shape) {
	case 3:
		return r.tokens(int(shape[1]), int(shape[2]), cfg)
	case 4:
		if cfg.Map == MapHWC || cfg.Map == "" && layout == LayoutNHWC {
			return r.lastChannels(shape), nil
		}
		return r.firstChannels(shape), nil
	}
	return reduction{}, fmt.Errorf("output shape %v: %d axes; set extractor.pool to none to flatten it, or "+
		"extractor.output to another tensor", shape, len(shape))
}

// tokens reduces [T,d] to one token or a pool over all of them.
func (r reduction) tokens(T, d int, cfg Config) (reduction, error) {
	r.channels = d
	if cfg.Pool != Auto && cfg.Pool != PoolToken {
		r.positions, r.positionStride = T, d
		return r, nil
	}
	if cfg.Token >= T {
		return reduction{}, fmt.Errorf("extractor.token %d: the output has %d tokens, 0…%d", cfg.Token, T, T-1)
	}
	r.offset = cfg.Token * d
	return r, nil
}

// lastChannels pools [H,W,C] over the map.
func (r reduction) lastChannels(shape []int64) reduction {
	r.channels, r.positions = int(shape[3]), int(shape[1]*shape[2])
	r.positionStride = r.channels
	return r
}

// firstChannels pools [C,H,W] over the map.
func (r reduction) firstChannels(shape []int64) reduction {
	r.channels, r.positions = int(shape[1]), int(shape[2]*shape[3])
	r.channelStride, r.positionStride = r.positions, 1
	return r
}

// apply writes the embedding of one photo.
func (r reduction) apply(dst, part []float32) {
	if r.positions == 1 && r.channelStride == 1 {
		copy(dst, part[r.offset:r.offset+r.channels])
		return
	}
	for c := range dst {
		dst[c] = r.channel(part[r.offset+c*r.channelStride:])
	}
}

func (r reduction) channel(part []float32) float32 {
	if r.max {
		best := part[0]
		for p := 1; p < r.positions; p++ {
			best = max(best, part[p*r.positionStride]) // NaN propagates, and is detected later
		}
		return best
	}
	var sum float64
	for p := range r.positions {
		sum += float64(part[p*r.positionStride])
	}
	return float32(sum / float64(r.positions))
}
