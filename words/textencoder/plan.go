package textencoder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/onnx"
)

// A plan is how one network is fed and read, decided from the file alone.
type plan struct {
	tokens, mask onnx.Value // the name of mask is "" if there is none
	length       int        // of the input, 0: any
	tensor       string     // what is read, by the name shown to users
	model        []byte     // the file, with that tensor as an output
	output       string     // its name there, float32
}

func (p plan) inputs() []string {
	if p.mask.Name == "" {
		return []string{p.tokens.Name}
	}
	return []string{p.tokens.Name, p.mask.Name}
}

func makePlan(m *onnx.Model, output string) (p plan, err error) {
	if p.tensor, err = chooseOutput(m, output); err != nil {
		return p, err
	}
	if len(m.Inputs) > len(m.Needs(p.tensor)) {
		if m, err = m.Part(p.tensor); err != nil {
			return p, err
		}
	}
	if err := p.chooseInputs(m.Inputs); err != nil {
		return p, err
	}
	p.model, p.output, err = m.WithOutput(p.tensor)
	return p, err
}

// HasTexts reports whether a network has an output that needs texts alone.
func HasTexts(m *onnx.Model) bool { return len(textOutputs(m)) > 0 }

// textOutputs returns the outputs that need integers alone, and may be one vector per text.
func textOutputs(m *onnx.Model) []string {
	var names []string
	for _, out := range m.Outputs {
		needs := m.Needs(out.Name)
		texts := len(needs) > 0 && !slices.ContainsFunc(needs, func(v onnx.Value) bool { return !isTokens(v) })
		if texts && (!out.HasShape || len(out.Shape) == 2) && !isTokens(out) {
			names = append(names, out.Name)
		}
	}
	return names
}

// isTokens reports whether an input may be one number per token.
func isTokens(v onnx.Value) bool {
	return (v.Elem == onnx.Int64 || v.Elem == onnx.Int32) && (!v.HasShape || len(v.Shape) == 2)
}

// usualOutputs are the names that exporters give embeddings of texts, best first.
var usualOutputs = [...]string{"text_embeds", "text_embeddings", "text_features", "sentence_embedding", "features",
	"embedding", "embeddings", "pooler_output", "output"}

func chooseOutput(m *onnx.Model, want string) (string, error) {
	names := textOutputs(m)
	switch {
	case want != "" && slices.ContainsFunc(m.Outputs, func(v onnx.Value) bool { return v.Name == want }):
		return want, nil
	case want != "":
		return "", fmt.Errorf("there is no output %q; the outputs are %s: correct text.output", want,
			onnx.Names(m.Outputs))
	case len(names) == 0:
		return "", fmt.Errorf("no output is one vector per text that needs only the numbers of tokens; its inputs "+
			"are %s, its outputs %s", onnx.Names(m.Inputs), onnx.Names(m.Outputs))
	case len(names) == 1:
		return names[0], nil
	}
	for _, usual := range usualOutputs {
		if slices.Contains(names, usual) {
			return usual, nil
		}
	}
	return "", fmt.Errorf("ambiguous output: set text.output to one of %s", strings.Join(names, ", "))
}

// chooseInputs tells the tokens from their mask.
func (p *plan) chooseInputs(inputs []onnx.Value) error {
	for _, in := range inputs {
		masks := strings.Contains(strings.ToLower(in.Name), "mask")
		switch {
		case !isTokens(in):
			return fmt.Errorf("input %s is not one number per token", in)
		case masks && p.mask.Name == "":
			p.mask = in
		case !masks && p.tokens.Name == "":
			p.tokens = in
		default:
			return fmt.Errorf("has the inputs %s, but only tokens and their mask can be fed", onnx.Names(inputs))
		}
	}
	if p.tokens.Name == "" {
		return fmt.Errorf("has the inputs %s, none of which takes tokens", onnx.Names(inputs))
	}
	if !p.tokens.HasShape {
		return nil
	}
	if batch := p.tokens.Shape[0]; batch != onnx.Free && batch != 1 {
		return fmt.Errorf("input %s takes %d texts at once: export it with a free batch", p.tokens, batch)
	}
	if n := p.tokens.Shape[1]; n != onnx.Free {
		p.length = int(min(n, 1<<30))
	}
	return nil
}
