package featdir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// The files of a feature folder.
const (
	embeddingsName = "embeddings.npy"
	samplesName    = "samples.csv"
	metaName       = "meta.json"
)

// metaFormat is the version of meta.json that Writer writes. From version 1,
// paths and labels in samples.csv are escaped (dataset.EscapePath).
const metaFormat = 1

// meta is meta.json.
type meta struct {
	Format int `json:"format"`
	embedding.Provenance
}

// A Reader is an open feature folder. It implements embedding.Rows.
type Reader struct {
	// Samples are the samples of the rows, in order.
	Samples []dataset.Sample

	dir    string
	meta   meta
	file   *os.File
	header npyHeader
}

// Open opens a feature folder: embeddings.npy (float32 or float16, n×d, C
// order) and, if present, samples.csv (header with path, optionally label, split
// and session) and meta.json. Without samples.csv the path of a row is its
// number, counted from 0 as NumPy does. Nothing is trusted: Open verifies sizes
// and row counts, reading rows verifies that they are finite, and memory is
// bounded by the size of samples.csv. Close the Reader after use.
func Open(dir string) (*Reader, error) {
	r := &Reader{dir: dir}
	if err := r.open(); err != nil {
		return nil, fmt.Errorf("read features %s: %w", dir, errors.Join(err, r.Close()))
	}
	return r, nil
}

func (r *Reader) open() error {
	if err := checkDir(r.dir); err != nil {
		return err
	}
	var err error
	if r.meta, err = readMeta(filepath.Join(r.dir, metaName)); err != nil {
		return fmt.Errorf("%s: %w", metaName, err)
	}
	samples, _, err := openFile(filepath.Join(r.dir, samplesName))
	numbered := errors.Is(err, fs.ErrNotExist)
	if err == nil {
		defer samples.Close()
		r.Samples, err = dataset.ReadSamples(samples, r.meta.Format >= 1)
	}
	if err != nil && !numbered {
		return fmt.Errorf("%s: %w", samplesName, err)
	}
	var size int64
	if r.file, size, err = openFile(filepath.Join(r.dir, embeddingsName)); err == nil {
		r.header, err = readNpyHeader(r.file, size)
	}
	if err == nil && numbered {
		r.Samples = make([]dataset.Sample, r.header.n)
		for i := range r.Samples {
			r.Samples[i].Path = strconv.Itoa(i)
		}
	}
	switch n := r.header.n; {
	case err != nil:
	case n != len(r.Samples):
		err = fmt.Errorf("%d rows, but %s has %d", n, samplesName, len(r.Samples))
	case n == 0:
		err = errors.New("no rows: the feature folder is empty")
	}
	if d := r.meta.Dim; err == nil && d != 0 && d != r.header.d {
		err = fmt.Errorf("dimension %d, %s says dimension %d", r.header.d, metaName, d)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", embeddingsName, err)
	}
	r.meta.Dim = r.header.d
	return nil
}

// Close closes the folder.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Provenance returns how the embeddings were computed, as far as meta.json
// records it.
func (r *Reader) Provenance() embedding.Provenance { return r.meta.Provenance }

// chunkValues bounds the embeddings that Each holds: 4 MiB.
const chunkValues = 1 << 20

// Each implements embedding.Rows. Its memory grows with the number of samples, but
// not with their embeddings.
func (r *Reader) Each(ctx context.Context, emit func(embedding.Item) error) (embedding.Outcome, error) {
	if _, err := r.file.Seek(r.header.offset, io.SeekStart); err != nil {
		return embedding.Outcome{}, fmt.Errorf("read features %s: %w", r.dir, err)
	}
	done, d := embedding.Outcome{}, r.header.d
	chunk := make([]float32, d*min(r.header.n, max(1, chunkValues/d)))
	for samples := r.Samples; len(samples) > 0; {
		rows := min(len(samples), len(chunk)/d)
		if err := r.header.read(chunk[:rows*d], r.file, samples); err != nil {
			return done, fmt.Errorf("read features %s: %s: %w", r.dir, embeddingsName, err)
		}
		for i, s := range samples[:rows] {
			if err := ctx.Err(); err != nil {
				return done, err
			}
			row := slices.Clone(chunk[i*d : (i+1)*d])
			if err := emit(embedding.Item{Sample: s, Hash: embedding.HashRow(row), Vector: row}); err != nil {
				return done, err
			}
			done.Total++
		}
		samples = samples[rows:]
	}
	return done, nil
}

// Read reads a feature folder into memory, which is bounded by the size of its
// files.
func Read(dir string) (embedding.Embeddings, error) {
	r, err := Open(dir)
	if err != nil {
		return embedding.Embeddings{}, err
	}
	defer r.Close()
	h := r.header
	e := embedding.Embeddings{
		X:       blas32.General{Rows: h.n, Cols: h.d, Stride: h.d, Data: make([]float32, h.n*h.d)},
		Samples: r.Samples, Provenance: r.Provenance(),
	}
	if err := h.read(e.X.Data, r.file, r.Samples); err != nil {
		return embedding.Embeddings{}, fmt.Errorf("read features %s: %s: %w", dir, embeddingsName, err)
	}
	e.Content = embedding.HashRows(e.X)
	return e, nil
}

func checkDir(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return dataset.ErrNoRoot
	}
	if err != nil {
		return regularfile.Cause(err)
	}
	if !info.IsDir() {
		return dataset.ErrNotFolder
	}
	if _, err := os.Stat(filepath.Join(dir, embeddingsName)); err != nil {
		return fmt.Errorf("%s: %w; a feature folder holds %s and, for paths and labels, %s", embeddingsName,
			regularfile.Cause(err), embeddingsName, samplesName)
	}
	return nil
}

// openFile opens a regular file and returns its size.
func openFile(path string) (*os.File, int64, error) {
	f, size, err := regularfile.Open(path)
	return f, size, regularfile.Cause(err)
}

const maxMetaBytes = 1 << 20

// readMeta returns a zero meta without an error if there is no file.
func readMeta(path string) (meta, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return meta{}, nil
	}
	f, size, err := openFile(path)
	if err != nil {
		return meta{}, err
	}
	defer f.Close()
	return parseMeta(f, size)
}

func parseMeta(r io.Reader, size int64) (meta, error) {
	if size > maxMetaBytes {
		return meta{}, fmt.Errorf("%d bytes is too long", size)
	}
	var m meta
	if err := json.NewDecoder(io.LimitReader(r, maxMetaBytes)).Decode(&m); err != nil {
		return meta{}, fmt.Errorf("not valid: %w", err)
	}
	if m.Format > metaFormat {
		return meta{}, fmt.Errorf("format %d is newer than this program knows (%d); update it", m.Format, metaFormat)
	}
	if m.Preprocess != nil && m.PreprocessFingerprint == "" {
		m.PreprocessFingerprint = m.Preprocess.Fingerprint()
	}
	return m, m.Validate()
}

// read fills dst with rows; samples[0] is the sample of the first.
func (h npyHeader) read(dst []float32, r io.Reader, samples []dataset.Sample) error {
	if err := readNpyData(dst, r, h.itemBytes); err != nil {
		return err
	}
	for i, v := range dst {
		if !finite(v) {
			row := h.n - len(samples) + i/h.d
			return fmt.Errorf("row %d of %d (%s), value %d is %v; remove the row or compute its embedding again",
				row+1, h.n, samples[i/h.d].Path, i%h.d+1, v)
		}
	}
	return nil
}

func finite(v float32) bool { return v-v == 0 }
