package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"
)

// The files of a feature folder.
const (
	embeddingsName = "embeddings.npy"
	samplesName    = "samples.csv"
	metaName       = "meta.json"
)

// metaFormat is the version of meta.json that FeatureWriter writes.
const metaFormat = 1

// Features is a feature folder (FEATDIR) in memory.
type Features struct {
	// X is n×d, row-major: row i is the embedding of Samples[i].
	X       blas32.General
	Samples []Sample
	// Meta is nil for a foreign folder without meta.json.
	Meta *Meta
}

// Meta says how the embeddings of a feature folder were made: meta.json.
type Meta struct {
	// Format is the version of this file; paths and labels in samples.csv
	// are escaped (EscapePath) when it is 1 or more.
	Format      int          `json:"format"`
	ToolVersion string       `json:"tool_version"`
	Backbone    BackboneMeta `json:"backbone"`
	// ExtractorFingerprint covers the model and the settings that change its
	// values; Extractor is those settings.
	ExtractorFingerprint  string          `json:"extractor_fingerprint"`
	Extractor             json.RawMessage `json:"extractor,omitempty"`
	Preprocess            json.RawMessage `json:"preprocess,omitempty"`
	PreprocessFingerprint string          `json:"preprocess_fingerprint"`
	// Dimension is d.
	Dimension int `json:"dimension"`
}

// BackboneMeta identifies the ONNX model.
type BackboneMeta struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	// Path is where the file was, a hint only.
	Path string `json:"path,omitempty"`
}

// ReadFeatures reads a feature folder: embeddings.npy (float32 or float16, n×d,
// C order), samples.csv (header with path and label, optionally split and
// session) and, where present, meta.json. Nothing is believed unchecked: sizes,
// row counts and finiteness are verified before use, and the memory needed is
// bounded by the size of the files.
func ReadFeatures(dir string) (Features, error) {
	f, err := readFeatures(dir)
	if err != nil {
		return Features{}, fmt.Errorf("read features %s: %w", dir, err)
	}
	return f, nil
}

func readFeatures(dir string) (Features, error) {
	meta, samples, err := describeFeatures(dir)
	if err != nil {
		return Features{}, err
	}
	x, err := readFile(filepath.Join(dir, embeddingsName), func(r io.Reader, size int64) (blas32.General, error) {
		return parseEmbeddings(r, size, samples)
	})
	if err == nil {
		err = meta.checkDimension(x.Cols)
	}
	if err != nil {
		return Features{}, fmt.Errorf("%s: %w", embeddingsName, err)
	}
	return Features{X: x, Samples: samples, Meta: meta}, nil
}

// describeFeatures reads all but the embeddings.
func describeFeatures(dir string) (*Meta, []Sample, error) {
	if err := checkFeatureDir(dir); err != nil {
		return nil, nil, err
	}
	meta, err := readMeta(filepath.Join(dir, metaName))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", metaName, err)
	}
	samples, err := readFile(filepath.Join(dir, samplesName), func(r io.Reader, _ int64) ([]Sample, error) {
		return parseSamples(r, meta != nil && meta.Format >= 1)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", samplesName, err)
	}
	return meta, samples, nil
}

// checkDimension compares the dimension with what meta.json says, if it does.
func (m *Meta) checkDimension(d int) error {
	if m != nil && m.Dimension != 0 && m.Dimension != d {
		return fmt.Errorf("dimension %d, %s says dimension %d", d, metaName, m.Dimension)
	}
	return nil
}

func checkFeatureDir(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoRoot
	}
	if err != nil {
		return cause(err)
	}
	if !info.IsDir() {
		return ErrNotFolder
	}
	for _, name := range []string{embeddingsName, samplesName} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("%s: %w; a feature folder holds %s and %s", name, cause(err), embeddingsName, samplesName)
		}
	}
	return nil
}

// readFile hands an open regular file and its size to parse.
func readFile[T any](path string, parse func(io.Reader, int64) (T, error)) (T, error) {
	var none T
	info, err := os.Stat(path)
	if err != nil {
		return none, cause(err)
	}
	if !info.Mode().IsRegular() {
		return none, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return none, cause(err)
	}
	defer f.Close()
	return parse(f, info.Size())
}

const maxMetaBytes = 1 << 20

// readMeta returns nil without an error when there is no file.
func readMeta(path string) (*Meta, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return readFile(path, parseMeta)
}

func parseMeta(r io.Reader, size int64) (*Meta, error) {
	if size > maxMetaBytes {
		return nil, fmt.Errorf("%d bytes is too long to be true", size)
	}
	var m Meta
	if err := json.NewDecoder(io.LimitReader(r, maxMetaBytes)).Decode(&m); err != nil {
		return nil, fmt.Errorf("not valid: %w", err)
	}
	if m.Format > metaFormat {
		return nil, fmt.Errorf("format %d is newer than this program knows (%d); update it", m.Format, metaFormat)
	}
	return &m, nil
}

func parseSamples(r io.Reader, escaped bool) ([]Sample, error) {
	text, err := skipBOM(r)
	if err != nil {
		return nil, err
	}
	t, err := newTable(text, 0)
	if err != nil {
		return nil, err
	}
	if t.label < 0 {
		return nil, errors.New("no column \"label\" in the header; the first line must name the columns: path,label")
	}
	var samples []Sample
	for {
		s, _, err := t.next()
		if err == io.EOF {
			return samples, nil
		}
		if err != nil {
			return nil, err
		}
		if escaped {
			s.Path, s.Label = UnescapePath(s.Path), UnescapePath(s.Label)
		}
		samples = append(samples, s)
	}
}

func parseEmbeddings(r io.Reader, size int64, samples []Sample) (blas32.General, error) {
	h, err := embeddingsHeader(r, size, samples)
	if err != nil {
		return blas32.General{}, err
	}
	x := blas32.General{Rows: h.n, Cols: h.d, Stride: h.d, Data: make([]float32, h.n*h.d)}
	return x, h.read(x.Data, r, samples)
}

// embeddingsHeader reads what goes before the values, and compares the number
// of rows.
func embeddingsHeader(r io.Reader, size int64, samples []Sample) (npyHeader, error) {
	h, err := readNpyHeader(r, size)
	switch {
	case err != nil:
		return h, err
	case h.n != len(samples):
		return h, fmt.Errorf("%d rows, but %s has %d", h.n, samplesName, len(samples))
	case h.n == 0:
		return h, errors.New("no rows: there is nothing in this feature folder")
	}
	return h, nil
}

// read fills dst with rows; samples[0] belongs to the first of them.
func (h npyHeader) read(dst []float32, r io.Reader, samples []Sample) error {
	if err := readNpyData(dst, r, h.itemBytes); err != nil {
		return err
	}
	for i, v := range dst {
		if !finite(v) {
			row := h.n - len(samples) + i/h.d
			return fmt.Errorf("row %d of %d (%s), value %d is %v; remove the row or make its embedding again",
				row+1, h.n, samples[i/h.d].Path, i%h.d+1, v)
		}
	}
	return nil
}

func finite(v float32) bool {
	const exponent = 0xff << 23
	return math.Float32bits(v)&exponent != exponent
}
