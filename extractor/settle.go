package extractor

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A Settlement says how the output of a model becomes an embedding, and why.
type Settlement struct {
	// Config has what auto means for this model.
	Config Config
	// Why is a sentence for the user.
	Why string
	// Guessed reports that names and shapes alone do not prove it.
	Guessed bool
}

// Settle decides what the settings that are auto mean, from the shape of the output. The
// error says what to set where shapes do not tell. (A model that was trained before keeps
// the meaning that auto had then: the mean of a map in the layout of the input, the first
// of several tokens.)
func (e *Extractor) Settle() (Settlement, error) {
	side := cmp.Or(e.plan.side, defaultSide)
	dims, err := e.dims(shape{e.plan.batch, side})
	if err == nil {
		err = e.repeats(side)
	}
	if err != nil {
		return Settlement{}, err
	}
	switch s := (Settlement{Config: e.cfg}); {
	case e.plan.scores != "" && len(dims) == 2:
		s.Config.Output, s.Guessed = Penultimate, true
		s.Why = fmt.Sprintf("output %q %s, so its last layer is left out", e.plan.tensor, e.plan.scores)
		return s, nil
	case e.cfg.Pool == PoolNone && len(dims) > 2:
		s.Why = fmt.Sprintf("output %q is flattened", e.plan.tensor)
		return s, nil
	case len(dims) == 4:
		return e.settleMap(s, dims)
	case len(dims) == 3:
		return e.settleTokens(s, dims, side)
	default:
		s.Why = fmt.Sprintf("output %q is one vector of %d values per photo", e.plan.tensor, e.dim)
		return s, nil
	}
}

// repeats checks that a picture has one embedding: dropout that is left on, and networks
// that hide patches at random, give another in each run. Sums in another order, as on a graphics
// card, differ by far less.
func (e *Extractor) repeats(side int) error {
	pixels := make([]float32, 3*side*side)
	for i := range pixels {
		pixels[i] = float32(i%251) / 251
	}
	var runs [2]blas32.General
	for i := range runs {
		runs[i] = dense.New32(1, e.dim)
		var bad *NonFiniteError
		err := e.Extract(runs[i], pixels)
		if err != nil && !errors.As(err, &bad) {
			return err
		}
	}
	largest := 0.0
	for _, v := range runs[0].Data {
		if a := math.Abs(float64(v)); a > largest { // not NaN
			largest = a
		}
	}
	for i, v := range runs[0].Data {
		if math.Abs(float64(v-runs[1].Data[i])) > 0.01*largest {
			return errors.New("gives two embeddings for one picture: it is random, as in training; export it for " +
				"inference (in PyTorch after .eval())")
		}
	}
	return nil
}

// dims returns the shape of the output.
func (e *Extractor) dims(a shape) ([]int64, error) {
	s, err := e.take(a)
	if err != nil {
		return nil, err
	}
	defer e.slots.put(s)
	return e.outputDims(a, s.in)
}

// settleMap finds the axis of channels of a map: pictures are square, so the two other
// axes are equal.
func (e *Extractor) settleMap(s Settlement, dims []int64) (Settlement, error) {
	first, last := dims[2] == dims[3] && dims[1] != dims[2], dims[1] == dims[2] && dims[3] != dims[2]
	order := e.cfg.Map
	switch {
	case order != "":
	case first:
		order = MapCHW
	case last:
		order = MapHWC
	default:
		return s, fmt.Errorf("output %q of shape %v: which axis has the channels? Set extractor.map to chw or hwc, or "+
			"extractor.output to another tensor", e.plan.tensor, dims)
	}
	if order != e.mapOrder() {
		s.Config.Map = order
	}
	how := "mean"
	if e.cfg.Pool == PoolMax {
		how = "maximum"
	}
	channels, side := dims[1], dims[2]
	if order == MapHWC {
		channels, side = dims[3], dims[1]
	}
	s.Why = fmt.Sprintf("output %q is a map of %d channels (%s, %d pixels a side): their %s",
		e.plan.tensor, channels, order, side, how)
	return s, nil
}

// mapOrder is the order of a map of which the settings say nothing: that of the input.
func (e *Extractor) mapOrder() string {
	if e.plan.layout == LayoutNHWC {
		return MapHWC
	}
	return MapCHW
}

// settleTokens tells outputs with a class token from those of patches alone by the number
// of tokens: patches fill a square.
func (e *Extractor) settleTokens(s Settlement, dims []int64, side int) (Settlement, error) {
	tokens := int(dims[1])
	name := fmt.Sprintf("output %q has %d tokens of %d values", e.plan.tensor, tokens, dims[2])
	switch {
	case e.cfg.Pool == PoolMean || e.cfg.Pool == PoolMax:
		s.Why = name + ": their " + map[string]string{PoolMean: "mean", PoolMax: "maximum"}[e.cfg.Pool]
		return s, nil
	case e.cfg.Token > 0 || e.cfg.Pool == PoolToken:
		s.Why = fmt.Sprintf("%s: token %d", name, e.cfg.Token)
		return s, nil
	case tokens == 1:
		s.Why = name + ": that one"
		return s, nil
	case isGrid(tokens, side) && isUsualGrid(int(dims[2]), side):
		return s, fmt.Errorf("%s, and both numbers could be those of patches: set extractor.pool to mean if it is the "+
			"first, or extractor.output to another tensor", name)
	case isGrid(tokens, side):
		s.Config.Pool, s.Guessed = PoolMean, true
		s.Why = fmt.Sprintf("%s, which fill a square of %d×%d patches, so that none is a class token: their mean", name,
			root(tokens), root(tokens))
		return s, nil
	}
	for _, more := range specialTokens {
		if isGrid(tokens-more, side) {
			if e.plan.registers {
				return s, fmt.Errorf("%s, and by the names of its weights registers but no class token: "+
					"set extractor.pool to mean, or extractor.output to another tensor", name)
			}
			s.Guessed = true
			s.Why = fmt.Sprintf("%s, %d more than a square of %d×%d patches: the first, the class token", name, more,
				root(tokens-more), root(tokens-more))
			return s, nil
		}
	}
	return s, fmt.Errorf("%s, which are no square of patches with or without a class token: "+
		"set extractor.pool to mean, max or token (with extractor.token), or extractor.output to another tensor", name)
}

// specialTokens are the numbers of tokens before the patches: a class token, with one of
// distillation, or with 4, 8 or 16 registers.
var specialTokens = [...]int{1, 2, 5, 9, 17}

// isRegister and isClassToken know what PyTorch's libraries (timm, transformers, DINOv2) name them,
// such as reg_token; exporters keep the names of weights that are not folded.
func isRegister(weight string) bool {
	name := strings.ToLower(weight)
	return strings.Contains(name, "reg_token") || strings.Contains(name, "register_token")
}

func isClassToken(weight string) bool {
	name := strings.ToLower(weight)
	return strings.Contains(name, "cls_token") || strings.Contains(name, "class_token") ||
		strings.Contains(name, "class_embedding")
}

// isGrid reports whether tokens are the patches, or groups of them, of a square picture.
func isGrid(tokens, side int) bool {
	n := root(tokens)
	return n > 1 && n*n == tokens && n <= side
}

// isUsualGrid is isGrid with patches of a usual side, 14 pixels or a power of two, and
// more of them than a few.
func isUsualGrid(tokens, side int) bool {
	const few = 9
	if tokens <= few || !isGrid(tokens, side) {
		return false
	}
	patch := side / root(tokens)
	return patch == 14 || patch&(patch-1) == 0
}

func root(n int) int { return int(math.Sqrt(float64(max(n, 0)) + 0.5)) }
