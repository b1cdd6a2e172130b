// Package wording turns the words for classes, and what people search for, into embeddings
// beside those of photos, by the text side of a backbone: names become sentences (Templates),
// and sentences become embeddings (Side).
package wording

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/words/textencoder"
	"github.com/seed-90d10d51/pipeline/words/tokenizer"
)

// Config names the text side of a backbone.
type Config struct {
	// Network is the path of its ONNX file; if empty, the one that goes with the photo network
	// is looked for.
	Network string `mapstructure:"network" json:"network"`
	// Tokenizer is the path of its tokenizer.json; if empty, the one next to the network.
	Tokenizer string `mapstructure:"tokenizer" json:"tokenizer"`
	// Output is the name of the tensor to read; if empty, it is detected.
	Output string `mapstructure:"output" json:"output"`
	// Length is the number of tokens per text; 0 takes it from the network, its tokenizer or
	// the catalogue, else 77.
	Length int `mapstructure:"length" json:"length"`
	// Templates turn names into sentences; none stand for DefaultTemplates.
	Templates Templates `mapstructure:"templates" json:"templates"`
}

// DefaultConfig returns the default settings.
func DefaultConfig() Config { return Config{Templates: DefaultTemplates()} }

func (c Config) resolved() Config {
	if len(c.Templates) == 0 {
		c.Templates = DefaultTemplates()
	}
	return c
}

// Validate returns an error that names the first setting that is out of range.
func (c Config) Validate() error {
	if c.Length < 0 || c.Length > tokenizer.MaxLength {
		return fmt.Errorf("length %d: not in 0…%d; 0 finds it", c.Length, tokenizer.MaxLength)
	}
	return c.Templates.Validate()
}

// A Side is the text side of a backbone, ready to run. It is safe for concurrent use.
type Side struct {
	encoder   *textencoder.Encoder
	templates Templates
	source    embedding.TextSource
}

// Open finds and opens the text side of a backbone of photos. Its embeddings must be as
// long as those of the photos, which are photos.Dim values (0: unknown). The error wraps
// backbone.ErrNoText if it has none. Cost: reading the file, and about a second.
func Open(c Config, photos embedding.Provenance, o embedding.Options) (*Side, error) {
	c = c.resolved()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	dirs, err := o.BackboneDirs()
	if err != nil {
		return nil, err
	}
	b := photos.Backbone
	found, err := backbone.FindText(backbone.Photos{Name: b.Name, SHA256: b.SHA256, Path: b.Path}, c.Network,
		c.Tokenizer, dirs)
	if err != nil {
		return nil, err
	}
	runtime, err := o.Runtime()
	if err != nil {
		return nil, err
	}
	words, err := tokenizer.Parse(found.Tokenizer)
	if err == nil && found.Settings != nil {
		words, err = words.With(found.Settings)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", found.TokenizerPath, err)
	}
	set := found.Config
	if c.Output != "" {
		set.Output = c.Output
	}
	if c.Length != 0 {
		set.Length = c.Length
	}
	encoder, err := textencoder.Open(runtime.Until(o.Until), found.Network, found.Name, words, set)
	if err != nil {
		return nil, err
	}
	d := encoder.Dim()
	if photos.Dim != 0 && d != photos.Dim {
		_ = encoder.Close() // the difference is the error
		return nil, fmt.Errorf("text network %s: its embeddings have %d values, those of the photos (%s) %d: "+
			"it belongs to another network", found.Path, d, b.Name, photos.Dim)
	}
	return &Side{encoder: encoder, templates: slices.Clone(c.Templates), source: embedding.TextSource{
		SHA256: found.SHA256(), Tokenizer: words.SHA256(), Length: encoder.Length(), Output: encoder.Output(),
		Templates: c.Templates,
	}}, nil
}

// Has reports whether Open would find a text side, without reading it.
func Has(c Config, photos backbone.File, o embedding.Options) bool {
	dirs, err := o.BackboneDirs()
	return err == nil && backbone.HasText(photos, c.Network, dirs)
}

// Source says what computes the embeddings.
func (s *Side) Source() *embedding.TextSource { return &s.source }

// Embed returns the embeddings of texts as they are, each of length 1.
func (s *Side) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return s.encoder.Embed(ctx, texts)
}

// Describe returns the embeddings of what describes classes: the texts given, and sentences
// made of names. Photos is the provenance of the photos that they are to be compared with.
func (s *Side) Describe(ctx context.Context, described []dataset.Description,
	photos embedding.Provenance) (featdir.Texts, error) {
	classes, texts, err := s.templates.Sentences(described)
	if err != nil {
		return featdir.Texts{}, err
	}
	rows, err := s.encoder.Embed(ctx, texts)
	if err != nil {
		return featdir.Texts{}, err
	}
	photos.Dim, photos.Text = s.encoder.Dim(), s.Source()
	return featdir.Texts{Classes: classes, Texts: texts, Rows: rows, Provenance: photos}, nil
}

// Close frees the network.
func (s *Side) Close() error { return s.encoder.Close() }
