package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
)

// MaxFile bounds a tokenizer.json, maxTokens and maxMerges what it lists, maxToken the bytes
// of a token that is looked for in texts, and maxID the numbers of tokens.
const (
	MaxFile   = 128 << 20
	maxTokens = 1 << 21
	maxMerges = 1 << 22
	maxToken  = 1 << 8
	maxID     = 1 << 24
)

// A file is a tokenizer.json. Its parts say by their type what the rest of them means.
type file struct {
	Truncation    *truncation     `json:"truncation"`
	Padding       *padding        `json:"padding"`
	AddedTokens   []addedToken    `json:"added_tokens"`
	Normalizer    json.RawMessage `json:"normalizer"`
	PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
	PostProcessor json.RawMessage `json:"post_processor"`
	Model         json.RawMessage `json:"model"`
}

// Parse reads a tokenizer.json. The error says which part cannot be used.
func Parse(data []byte) (*Tokenizer, error) {
	t, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	return t, nil
}

func parse(data []byte) (*Tokenizer, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("%d bytes: more than %d", len(data), MaxFile)
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	t := &Tokenizer{sha256: hashOf(data)}
	var err error
	if t.model, err = readModel(f.Model); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if t.normalize, err = readNormalizer(f.Normalizer, 0); err != nil {
		return nil, fmt.Errorf("normalizer: %w", err)
	}
	if t.split, err = readSplitter(f.PreTokenizer, 0); err != nil {
		return nil, fmt.Errorf("pre_tokenizer: %w", err)
	}
	if t.added, err = newAdded(f.AddedTokens, t.normalize, t.model); err != nil {
		return nil, fmt.Errorf("added_tokens: %w", err)
	}
	if err := t.frame.readPost(f.PostProcessor, 0); err != nil {
		return nil, fmt.Errorf("post_processor: %w", err)
	}
	return t, t.frame.readLengths(f.Truncation, f.Padding)
}

// maxDepth bounds sequences in sequences.
const maxDepth = 8

var errDepth = errors.New("too many sequences inside each other")

// absent reports whether a part is not there.
func absent(part json.RawMessage) bool { return len(part) == 0 || string(part) == "null" }

// kind returns the type of a part.
func kind(part json.RawMessage) (string, error) {
	var typed struct {
		Type string `json:"type"`
	}
	err := json.Unmarshal(part, &typed)
	return typed.Type, err
}

// unsupported says that a part is of a type that this package does not know.
func unsupported(kind string) error {
	return fmt.Errorf("the type %q is not supported", kind)
}

func readModel(part json.RawMessage) (model, error) {
	var m struct {
		Type   string          `json:"type"`
		Merges json.RawMessage `json:"merges"`
	}
	if absent(part) {
		return nil, errors.New("there is none")
	}
	if err := json.Unmarshal(part, &m); err != nil {
		return nil, err
	}
	switch {
	case m.Type == "BPE", m.Type == "" && !absent(m.Merges): // older files do not say
		return readBPE(part)
	case m.Type == "Unigram":
		return readUnigram(part)
	}
	return nil, unsupported(m.Type)
}

// checkLength bounds the time that it takes to look for a token.
func checkLength(token string) error {
	if len(token) > maxToken {
		return fmt.Errorf("a token of %d bytes: more than %d", len(token), maxToken)
	}
	return nil
}

func checkID(id int64, token string) error {
	if id < 0 || id >= maxID {
		return fmt.Errorf("token %q has the number %d, not one in 0…%d", token, id, maxID-1)
	}
	return nil
}
