package featdir

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// A Writer writes a feature folder row by row, in constant memory. The folder
// appears, or replaces the old one, only at Close; a run killed earlier leaves
// the old one untouched. A file that somebody adds to the old one meanwhile moves
// into the new one.
type Writer struct {
	dir     *atomicfile.Dir
	path    string
	meta    meta
	npy     *os.File
	data    *bufio.Writer
	samples *os.File
	csv     *csv.Writer
	rows    int
	buf     []byte
	broken  error // the first failed write; nothing is committed after it
}

// NewWriter starts a feature folder at path for embeddings of size from.Dim.
// Its parent must exist. An existing path must be a feature folder or empty; a
// folder with anything else is refused, because Close replaces it. Defer Abort,
// which does nothing after Close.
func NewWriter(path string, from embedding.Provenance) (*Writer, error) {
	if from.Dim <= 0 {
		return nil, fmt.Errorf("write features %s: dimension %d, need at least 1", path, from.Dim)
	}
	if err := replaceable(path); err != nil {
		return nil, err
	}
	// Leftovers of killed runs; if they cannot be removed they only take up
	// space.
	_, _ = atomicfile.RemoveStale(filepath.Dir(path))
	dir, err := atomicfile.CreateDir(path, isFeatures)
	if err != nil {
		return nil, fmt.Errorf("write features: %w", err)
	}
	w := &Writer{dir: dir, path: path, meta: meta{metaFormat, from}, buf: make([]byte, 4*from.Dim)}
	if err := w.open(); err != nil {
		w.Abort()
		return nil, w.failed(err)
	}
	return w, nil
}

func (w *Writer) open() (err error) {
	if w.npy, err = os.Create(filepath.Join(w.dir.Path(), embeddingsName)); err != nil {
		return err
	}
	if w.samples, err = os.Create(filepath.Join(w.dir.Path(), samplesName)); err != nil {
		return err
	}
	w.data = bufio.NewWriterSize(w.npy, 1<<18)
	w.csv = csv.NewWriter(w.samples)
	if _, err = w.data.Write(formatNpyHeader(0, w.meta.Dim)); err != nil {
		return err
	}
	return w.csv.Write([]string{"path", "label", "split", "session"})
}

// TempDir returns the folder under its temporary name; errors.csv and
// summary.json written there (and synced) before Close appear together with the
// rest.
func (w *Writer) TempDir() string { return w.dir.Path() }

// Write appends one row. The values must be finite; after an error the folder
// cannot be completed.
func (w *Writer) Write(s dataset.Sample, row []float32) error {
	if w.broken == nil {
		w.broken = w.write(s, row)
	}
	return w.broken
}

func (w *Writer) write(s dataset.Sample, row []float32) error {
	if len(row) != w.meta.Dim {
		return w.failed(fmt.Errorf("%s: %d values, need %d", s.Path, len(row), w.meta.Dim))
	}
	for i, v := range row {
		if !finite(v) {
			return w.failed(fmt.Errorf("%s: value %d is %v", s.Path, i+1, v))
		}
		binary.LittleEndian.PutUint32(w.buf[4*i:], math.Float32bits(v))
	}
	if _, err := w.data.Write(w.buf); err != nil {
		return w.failed(err)
	}
	if err := w.csv.Write([]string{dataset.EscapePath(s.Path), dataset.EscapePath(s.Label), s.Split,
		s.Session}); err != nil {
		return w.failed(err)
	}
	w.rows++
	return nil
}

// Close completes the folder, makes it durable and puts it in place.
func (w *Writer) Close() error {
	defer w.Abort()
	if w.broken != nil {
		return w.broken
	}
	w.broken = fmt.Errorf("write features %s: already closed", w.path)
	if err := errors.Join(w.finishNpy(), w.finishSamples(), w.writeMeta()); err != nil {
		return w.failed(err)
	}
	if err := replaceable(w.path); err != nil { // it may have changed in the meantime
		return err
	}
	if err := w.dir.Commit(); err != nil {
		return w.failed(err)
	}
	return nil
}

func (w *Writer) finishNpy() error {
	if err := w.data.Flush(); err != nil {
		return err
	}
	if _, err := w.npy.WriteAt(formatNpyHeader(w.rows, w.meta.Dim), 0); err != nil {
		return err
	}
	return errors.Join(w.npy.Sync(), w.npy.Close())
}

func (w *Writer) finishSamples() error {
	w.csv.Flush()
	return errors.Join(w.csv.Error(), w.samples.Sync(), w.samples.Close())
}

func (w *Writer) writeMeta() error {
	text, err := json.MarshalIndent(w.meta, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(w.dir.Path(), metaName), append(text, '\n'))
}

// Abort discards what was written. After Close it does nothing.
func (w *Writer) Abort() {
	for _, f := range []*os.File{w.npy, w.samples} {
		if f != nil {
			f.Close() // an error after Close is expected
		}
	}
	w.dir.Abort()
}

func (w *Writer) failed(err error) error {
	return fmt.Errorf("write features %s: %w", w.path, err)
}

// isFeatures reports whether something in a feature folder is a file that this program
// writes; a folder with only these may be replaced.
func isFeatures(place, _ string, e fs.DirEntry) bool {
	return e.Type().IsRegular() &&
		slices.Contains([]string{embeddingsName, samplesName, metaName, "errors.csv", "summary.json"}, place)
}

// replaceable refuses everything that is not a feature folder, so that a
// mistaken --out destroys nothing.
func replaceable(path string) error {
	strange, err := strangers(path, isFeatures)
	if err != nil {
		return fmt.Errorf("write features %s: exists and cannot be read as a folder: %w", path, regularfile.Cause(err))
	}
	if len(strange) > 0 {
		return fmt.Errorf("write features %s: the folder exists and contains files that are not features (%s); give "+
			"another folder",
			path, firstFew(strange))
	}
	return nil
}

// strangers returns what is in a folder that this program did not write, none if there is
// no folder.
func strangers(path string, own func(place, _ string, e fs.DirEntry) bool) (strange []string, err error) {
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if !own(e.Name(), "", e) {
			strange = append(strange, e.Name())
		}
	}
	return strange, nil
}

func firstFew(names []string) string {
	const few = 3
	if len(names) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
	}
	return strings.Join(names, ", ")
}
