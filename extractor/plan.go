package extractor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// A plan is how one model is fed and read, decided from the file alone.
type plan struct {
	input  string
	feed   string // the input of model, which is another one where the file's takes bytes
	half   bool   // input is float16
	layout string // LayoutNCHW or LayoutNHWC
	side   int    // 0: any
	batch  int    // ≥ 1
	free   bool   // the side is fixed, but the batch is not, by model or configuration

	tensor string // what is read, by the name shown to users
	// registers reports that weights are named as registers, and none as a class token.
	registers bool
	scores    string // why that seems to be the scores of classes, if its last layer can be left out
	model     []byte // the file, with that tensor as an output
	output    string // its name there, float32
}

func makePlan(m *onnx.Model, cfg Config) (plan, error) {
	var p plan
	var err error
	if len(m.Inputs) > 1 {
		if m, p.tensor, err = imagePart(m, cfg); err != nil {
			return plan{}, err
		}
	}
	in, err := chooseInput(m, cfg)
	if err != nil {
		return plan{}, err
	}
	p.input, p.feed, p.half = in.Name, in.Name, in.Elem == onnx.Float16
	if in.Elem == onnx.Uint8 {
		if m, p.feed, err = m.WithFloatInput(in); err != nil {
			return plan{}, err
		}
	}
	if err := p.readInputShape(in, cfg); err != nil {
		return plan{}, err
	}
	if p.tensor == "" {
		if p.tensor, err = chooseOutput(m, cfg); err != nil {
			return plan{}, err
		}
	}
	p.registers = m.HasWeight(isRegister) && !m.HasWeight(isClassToken)
	if cfg.Output == "" {
		p.scores = scoresOf(m, p.tensor)
	}
	p.model, p.output, err = m.WithOutput(p.tensor)
	if err != nil {
		return plan{}, fmt.Errorf("%w; set extractor.output", err)
	}
	return p, nil
}

// imagePart returns the part of a model with several inputs that needs an image alone,
// such as the image encoder of a CLIP, and its output.
func imagePart(m *onnx.Model, cfg Config) (*onnx.Model, string, error) {
	var alone []onnx.Value // outputs that need the image alone
	for _, out := range m.Outputs {
		needs := m.Needs(out.Name)
		if len(needs) == 1 && isImage(needs[0]) {
			alone = append(alone, out)
		}
	}
	tensor := cfg.Output
	switch {
	case len(alone) == 0:
		return nil, "", fmt.Errorf("has %d inputs (%s), and every output needs more than an image: "+
			"export the image encoder alone", len(m.Inputs), onnx.Names(m.Inputs))
	case cfg.Output == Penultimate:
		return nil, "", fmt.Errorf("has %d inputs (%s): set extractor.output to one of the outputs that need the "+
			"image alone: %s", len(m.Inputs), onnx.Names(m.Inputs), onnx.Names(alone))
	case tensor == "" && len(alone) == 1:
		tensor = alone[0].Name
	case tensor == "":
		tensor = usualOutput(names(alone))
	}
	if !slices.Contains(names(alone), tensor) {
		return nil, "", fmt.Errorf("has %d inputs (%s), but only an image can be fed: set extractor.output to "+
			"one of the outputs that need the image alone: %s", len(m.Inputs), onnx.Names(m.Inputs), onnx.Names(alone))
	}
	part, err := m.Part(tensor)
	return part, tensor, err
}

// isImage reports whether an input may be one of images.
func isImage(in onnx.Value) bool { return in.Elem.IsFloat() && (!in.HasShape || len(in.Shape) == 4) }

func names(values []onnx.Value) (all []string) {
	for _, v := range values {
		all = append(all, v.Name)
	}
	return all
}

// chooseInput returns the image input, which must be the only input: others
// would have to be fed too.
func chooseInput(m *onnx.Model, cfg Config) (onnx.Value, error) {
	if len(m.Inputs) != 1 {
		return onnx.Value{}, fmt.Errorf("has %d inputs (%s), but only an image can be fed: export the image encoder "+
			"alone", len(m.Inputs), onnx.Names(m.Inputs))
	}
	in := m.Inputs[0]
	if cfg.Input != "" && cfg.Input != in.Name {
		return onnx.Value{}, fmt.Errorf("has no input %q, its input is %s: correct extractor.input", cfg.Input, in)
	}
	if !in.Elem.IsFloat() && in.Elem != onnx.Uint8 {
		return onnx.Value{}, fmt.Errorf("input %s: only float32, float16 and uint8 images are supported; export with "+
			"one of these", in)
	}
	if in.HasShape && len(in.Shape) != 4 {
		return onnx.Value{}, fmt.Errorf("input %s: an image input has 4 axes, [n,3,H,W] or [n,H,W,3]", in)
	}
	return in, nil
}

func (p *plan) readInputShape(in onnx.Value, cfg Config) error {
	shape := in.Shape
	if !in.HasShape {
		shape = []int64{onnx.Free, onnx.Free, onnx.Free, onnx.Free}
	}
	layout, err := chooseLayout(in, shape, cfg.Layout)
	if err != nil {
		return err
	}
	p.layout = layout
	height, width := shape[2], shape[3]
	if layout == LayoutNHWC {
		height, width = shape[1], shape[2]
	}
	if p.side, err = chooseSide(in, height, width, cfg.Side); err != nil {
		return err
	}
	standard := acceleratorBatch
	if cfg.Provider == string(ort.CPU) {
		standard = 1
		p.free = shape[0] == onnx.Free && cfg.Batch == 0 && p.side != 0
	}
	p.batch, err = chooseBatch(shape[0], cfg.Batch, standard)
	return err
}

// chooseLayout finds the colour axis, which has size 3.
func chooseLayout(in onnx.Value, shape []int64, want string) (string, error) {
	first, last := shape[1] == 3, shape[3] == 3
	switch {
	case want == LayoutNCHW && (first || shape[1] == onnx.Free):
		return LayoutNCHW, nil
	case want == LayoutNHWC && (last || shape[3] == onnx.Free):
		return LayoutNHWC, nil
	case want != Auto:
		return "", fmt.Errorf("input %s: not of layout %s, colour axis of size 3: correct extractor.layout", in, want)
	case first && !last:
		return LayoutNCHW, nil
	case last && !first:
		return LayoutNHWC, nil
	case first || shape[1] == onnx.Free || shape[3] == onnx.Free:
		return "", fmt.Errorf("input %s: cannot tell which axis is colour: set extractor.layout to nchw or nhwc", in)
	}
	return "", fmt.Errorf("input %s: no axis of size 3; images need 3 colours", in)
}

func chooseSide(in onnx.Value, height, width int64, want int) (int, error) {
	side := height
	if side == onnx.Free {
		side = width
	}
	switch {
	case width != onnx.Free && height != onnx.Free && width != height:
		return 0, fmt.Errorf("input %s: %d×%d, but only square images are supported: export with equal sides", in,
			height, width)
	case side == onnx.Free:
		return want, nil
	case side > maxSide:
		return 0, fmt.Errorf("input %s: more than %d pixels a side", in, maxSide)
	case want != 0 && int64(want) != side:
		return 0, fmt.Errorf("input %s: takes %d pixels a side, but %d are given: preprocess to side %d", in, side,
			want, side)
	}
	return int(side), nil
}

// acceleratorBatch is the number of photos a run on a GPU and the like, of a model that
// leaves it free. All runs have that one shape: for each shape a library searches its
// kernels again (seconds with CUDA), and one photo does not fill the device.
const acceleratorBatch = 32

func chooseBatch(fixed int64, want, standard int) (int, error) {
	switch {
	case fixed == onnx.Free:
		return cmp.Or(want, standard), nil
	case fixed > maxBatch:
		return 0, fmt.Errorf("fixed batch of %d: more than %d", fixed, maxBatch)
	case want != 0 && int64(want) != fixed:
		return 0, fmt.Errorf("has a fixed batch of %d, but extractor.batch is %d: set it to 0 or %d, or export with "+
			"a free batch axis", fixed, want, fixed)
	}
	return int(fixed), nil
}

// usualOutputs are the names that exporters give embeddings, best first. The last has a
// row of values for each token.
var usualOutputs = [...]string{"features", "embedding", "embeddings", "image_embeds", "image_embeddings",
	"image_features", "pooler_output", "x_norm_clstoken", "last_hidden_state"}

func chooseOutput(m *onnx.Model, cfg Config) (string, error) {
	if cfg.Output == Penultimate {
		t, err := m.Penultimate()
		if err != nil {
			return "", fmt.Errorf("extractor.output penultimate: %w; name a tensor instead", err)
		}
		return t, nil
	}
	if cfg.Output != "" {
		return cfg.Output, nil
	}
	names := floatOutputs(m)
	if len(names) == 1 {
		return names[0], nil
	}
	if usual := usualOutput(names); usual != "" {
		return usual, nil
	}
	return "", fmt.Errorf("ambiguous output: the model has %s: set extractor.output to one of them, or to penultimate",
		onnx.Names(m.Outputs))
}

// usualOutput returns the name of an embedding among names, "" if there is none.
func usualOutput(names []string) string {
	for _, usual := range usualOutputs {
		if slices.Contains(names, usual) {
			return usual
		}
	}
	return ""
}

func floatOutputs(m *onnx.Model) []string {
	var names []string
	for _, v := range m.Outputs {
		number := v.HasShape && len(v.Shape) == 0 // such as CLIP's scale of logits
		if !number && (v.Elem.IsFloat() || v.Elem == onnx.Float64 || v.Elem == onnx.BFloat16) {
			names = append(names, v.Name)
		}
	}
	return names
}

// scoresOf says why an output seems to be the scores of classes, "" if nothing says so or
// the graph does not end in a linear layer.
func scoresOf(m *onnx.Model, tensor string) string {
	before, err := m.Penultimate()
	if err != nil || before == tensor {
		return ""
	}
	switch strings.ToLower(tensor) {
	case "logits", "probabilities", "probs", "prob", "scores", "softmax", "predictions":
		return "has the name of scores of classes"
	}
	out, _ := m.Output(tensor)
	if len(out.Shape) == 2 && slices.Contains(datasetClasses[:], out.Shape[1]) {
		return fmt.Sprintf("has %d values, one for each class of ImageNet", out.Shape[1])
	}
	if m.EndsIn(tensor, "Softmax", "LogSoftmax") {
		return "is a softmax over classes"
	}
	return ""
}

// datasetClasses are the numbers of classes of ImageNet, with or without one for the
// background, of its 21 000 classes as timm has them, and of their cleaned list.
var datasetClasses = [...]int64{1000, 1001, 21841, 21843, 10450, 11221}
