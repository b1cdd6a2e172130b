package backbone

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/models"
	"github.com/seed-90d10d51/pipeline/onnx"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// OfNewModels is the catalogue's name of the network that the program contains, for new models.
const OfNewModels = "efficientnet-lite0"

// maxFileBytes is protobuf's limit for one message, hence for one ONNX file.
const maxFileBytes = math.MaxInt32

// A Source is where a File or its preprocessing comes from.
type Source string

// Sources of a File, and (FromMetadata, FromCatalogue, Unknown) of its
// preprocessing.
const (
	BuiltIn       Source = "built-in"
	FromPath      Source = "path"
	FromCatalogue Source = "catalogue"
	FromMetadata  Source = "metadata"
	Unknown       Source = "unknown"
)

// A File is one backbone, read and hashed.
type File struct {
	// Name is for display: a catalogue name, or the path as given.
	Name string
	// Path is "" for the built-in backbone.
	Path string
	// SHA256 is the hash of the bytes, in hexadecimal.
	SHA256 string
	// Source is BuiltIn, FromPath or FromCatalogue (pulled into the cache).
	Source Source
	// Entry is the catalogue's entry for this hash, or nil.
	Entry *Entry
	// Preprocess is the preprocessing of images, nil if unknown.
	Preprocess *preprocess.Spec
	// PreprocessSource is FromMetadata, FromCatalogue or Unknown.
	PreprocessSource Source
	// Range is the largest value of a pixel, 1 or 255, if the network normalises its input
	// itself; 0 if it does not. It counts where Preprocess is nil.
	Range float64
	// Output is the catalogue's tensor to read, "" to detect it.
	Output string

	data []byte
}

// Bytes returns the ONNX file; the caller must not change it.
func (f File) Bytes() []byte { return f.data }

// builtIn returns the backbone that is embedded in the program.
func builtIn() (File, error) { return newFile(OfNewModels, "", BuiltIn, models.EfficientNetLite0()) }

// load reads the file at path.
func load(name, path string, source Source) (File, error) {
	data, err := regularfile.Read(path, maxFileBytes)
	if err != nil {
		return File{}, fmt.Errorf("read backbone %s: %w", name, err)
	}
	return newFile(name, path, source, data)
}

// newFile takes ownership of data.
func newFile(name, path string, source Source, data []byte) (File, error) {
	f := File{Name: name, Path: path, Source: source, SHA256: hashOf(data), data: data}
	var err error
	if f.Entry, err = entryOf(f.SHA256); err != nil {
		return File{}, err
	}
	if f.Entry != nil {
		f.Output = f.Entry.Output
	}
	if err := f.findPreprocess(); err != nil {
		return File{}, fmt.Errorf("backbone %s: %w", name, err)
	}
	return f, nil
}

// findPreprocess checks the file's own metadata first: its author knew best.
func (f *File) findPreprocess() error {
	parsed, err := onnx.Parse(f.data)
	if err != nil {
		return err
	}
	text, stated := parsed.Metadata[onnx.MetadataPreprocess]
	switch {
	case stated:
		spec, err := preprocess.ParseSpec([]byte(text))
		if err != nil {
			return fmt.Errorf("metadata %s: %w; export the file again or remove the key", onnx.MetadataPreprocess, err)
		}
		f.Preprocess, f.PreprocessSource = &spec, FromMetadata
	case f.Entry != nil:
		spec := f.Entry.Preprocess
		f.Preprocess, f.PreprocessSource = &spec, FromCatalogue
	default:
		f.PreprocessSource, f.Range = Unknown, rangeOf(parsed)
	}
	return nil
}

// rangeOf returns the largest value of a pixel that a network normalises itself, 0 if it
// does not.
func rangeOf(m *onnx.Model) float64 {
	for _, in := range m.Inputs {
		switch {
		case in.Elem == onnx.Uint8:
			return 255
		case len(in.Shape) == 4 || !in.HasShape:
			return m.InputRange(in.Name)
		}
	}
	return 0
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
