package tokenizer

import (
	"encoding/json"
	"fmt"
)

// MaxSettings bounds a tokenizer_config.json.
const MaxSettings = 16 << 20

// With returns the tokenizer with what a tokenizer_config.json adds, which lies beside many
// a tokenizer.json: the padding token and the length of a text. What tokenizer.json says
// comes first.
func (t *Tokenizer) With(settings []byte) (*Tokenizer, error) {
	var s struct {
		Pad    json.RawMessage `json:"pad_token"`
		Length *float64        `json:"model_max_length"` // 1e30 for any
	}
	if err := json.Unmarshal(settings, &s); err != nil {
		return nil, fmt.Errorf("tokenizer_config.json: %w", err)
	}
	with := *t
	if with.frame.length == 0 && s.Length != nil && *s.Length >= 1 && *s.Length <= MaxLength {
		with.frame.length = int(*s.Length)
	}
	if name := tokenName(s.Pad); with.frame.pad == nil && name != "" {
		id, ok := t.ID(name)
		if !ok {
			return nil, fmt.Errorf("tokenizer_config.json: pad_token %q is no token of tokenizer.json", name)
		}
		with.frame.pad = &id
	}
	return &with, nil
}

// tokenName reads a token: its text, or an object with it.
func tokenName(part json.RawMessage) string {
	var name string
	if json.Unmarshal(part, &name) == nil {
		return name
	}
	var token struct {
		Content string `json:"content"`
	}
	_ = json.Unmarshal(part, &token) // anything else is no name
	return token.Content
}
