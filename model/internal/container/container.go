// Package container reads and writes the safetensors files that hold models,
// their statistics side files and class statistics: tensors, a JSON document in
// the metadata, a format with a version, and a checksum at the end.
package container

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/internal/safetensors"
)

// Errors about a file's version, for errors.Is.
var (
	// ErrNewerVersion means that a newer program wrote the file.
	ErrNewerVersion = errors.New("written by a newer version of pipeline")
	// ErrOlderVersion means that an older program wrote the file.
	ErrOlderVersion = errors.New("written by an older version of pipeline")
)

// Keys of the metadata.
const (
	FormatKey   = "format"
	VersionKey  = "version"
	DocumentKey = "model"
)

// A Format is a kind of file.
type Format struct {
	Name    string
	Version int
	// Oldest is the first version that is read, 0 for Version.
	Oldest int
	// Foreign is the error for a file of another kind.
	Foreign error
	// Again is advice for replacing a file of an older version.
	Again string
}

// known describes files of the other formats, for the error when one is opened
// by mistake.
var known = map[string]string{
	"pipeline-model":            "it is a model",
	"pipeline-statistics":       "it is the statistics side file of a model",
	"pipeline-prior":            "it is a prior, which pipeline train can use",
	"pipeline-class-statistics": "it holds class statistics, which pipeline train turns into a model",
}

// A File is the content of a file in one of the formats.
type File struct {
	Tensors  map[string]safetensors.Tensor
	Metadata map[string]string
}

// New returns a File with a document and no tensors.
func New(f Format, document string) File {
	return File{map[string]safetensors.Tensor{}, map[string]string{
		FormatKey: f.Name, VersionKey: strconv.Itoa(f.Version), DocumentKey: document,
	}}
}

// Add adds tensors under a prefix.
func (c File) Add(prefix string, tensors map[string]classifier.Tensor) {
	for name, t := range tensors {
		c.Tensors[prefix+name] = safetensors.Tensor{Shape: t.Shape, F32: t.F32, F64: t.F64, I64: t.I64}
	}
}

// Digest returns the size and hash of what Write would write.
func (c File) Digest() (safetensors.Written, error) {
	return safetensors.Write(io.Discard, c.Tensors, c.Metadata)
}

// Bytes returns what Write would write.
func (c File) Bytes() ([]byte, error) {
	var b bytes.Buffer
	_, err := safetensors.Write(&b, c.Tensors, c.Metadata)
	return b.Bytes(), err
}

// Write writes the file durably and atomically; before, unless nil, runs after
// everything is synced under a temporary name, just before the rename. If it
// returns an error, the new file is removed.
func (c File) Write(path string, before func(temporary string) error) error {
	return c.WriteLike(path, path, before)
}

// WriteLike is Write of a file that belongs to another one: if it is new, it gets the
// permissions of that one.
func (c File) WriteLike(path, other string, before func(temporary string) error) error {
	f, err := atomicfile.CreateLike(path, other)
	if err != nil {
		return err
	}
	defer f.Abort()
	w := bufio.NewWriterSize(f, 1<<20)
	if _, err := safetensors.Write(w, c.Tensors, c.Metadata); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if before != nil {
		if err := f.Sync(); err != nil {
			return err
		}
		if err := before(f.Name()); err != nil {
			return err
		}
	}
	return f.Commit()
}

// Open checks that r holds a complete, unaltered file of size bytes in the
// current version of the format.
func Open(r io.ReaderAt, size int64, format Format) (*safetensors.File, safetensors.Written, error) {
	f, err := OpenHeader(r, size, format)
	if err != nil {
		return nil, safetensors.Written{}, err
	}
	written, err := f.VerifyDigest()
	return f, written, err
}

// Load reads the file at path with decode, which accepts any bytes. What names the
// kind of file in errors.
func Load[T any](path, what string, decode func(r io.ReaderAt, size int64) (T, error)) (T, error) {
	var none T
	f, size, err := regularfile.Open(path)
	if err != nil {
		return none, fmt.Errorf("load %s: %w", what, err)
	}
	defer f.Close()
	out, err := decode(f, size)
	if err != nil {
		return none, fmt.Errorf("load %s %s: %w", what, path, err)
	}
	return out, nil
}

// Save writes what content returns to path, atomically. A file of another kind is never
// replaced. What names the kind of file in errors.
func Save(path, what string, format Format, content func() (File, error)) error {
	err := replaceable(path, format)
	var c File
	if err == nil {
		c, err = content()
	}
	if err == nil {
		err = c.Write(path, nil)
	}
	if err != nil {
		return fmt.Errorf("save %s %s: %w", what, path, err)
	}
	return nil
}

// Described opens a file and decodes its document into d. Make says how to get a file of
// the kind.
func Described(r io.ReaderAt, size int64, format Format, make string, d any) (*safetensors.File, error) {
	f, _, err := Open(r, size, format)
	if errors.Is(err, format.Foreign) {
		return nil, fmt.Errorf("%w: make one with %s", err, make)
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(f.Metadata()[DocumentKey]), d); err != nil {
		return nil, fmt.Errorf("its description: %w", err)
	}
	return f, nil
}

// replaceable returns an error if there is a file of another kind at path, which is
// not to be lost; an empty one may be replaced.
func replaceable(path string, format Format) error {
	f, size, err := regularfile.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer f.Close()
	if _, err := OpenHeader(f, size, format); err != nil && size > 0 {
		return fmt.Errorf("the existing file is %w and is not replaced: move it away or choose another name",
			format.Foreign)
	}
	return nil
}

// Verify checks the whole file at path.
func Verify(path string, format Format) (safetensors.Written, error) {
	f, size, err := regularfile.Open(path)
	if err != nil {
		return safetensors.Written{}, err
	}
	defer f.Close()
	_, written, err := Open(f, size, format)
	return written, err
}

// OpenHeader is Open without reading the data.
func OpenHeader(r io.ReaderAt, size int64, format Format) (*safetensors.File, error) {
	f, err := safetensors.Open(r, size)
	if errors.Is(err, safetensors.ErrFormat) {
		return nil, fmt.Errorf("%w, or damaged at its beginning: %w", format.Foreign, err)
	}
	if err != nil {
		return nil, err
	}
	if got := f.Metadata()[FormatKey]; got != format.Name {
		what, ok := known[got]
		if !ok {
			what = "it is a safetensors file of another kind"
		}
		return nil, fmt.Errorf("%w: %s", format.Foreign, what)
	}
	oldest := cmp.Or(format.Oldest, format.Version)
	version, err := strconv.Atoi(f.Metadata()[VersionKey])
	switch {
	case err != nil || version < 1:
		return nil, fmt.Errorf("%w: its version is %q", format.Foreign, f.Metadata()[VersionKey])
	case version > format.Version:
		return nil, fmt.Errorf("%w: its format version is %d, this program knows %d: update pipeline", ErrNewerVersion,
			version, format.Version)
	case version < oldest:
		return nil, fmt.Errorf("%w: its format version is %d, this program reads %d and later: %s", ErrOlderVersion,
			version, oldest, format.Again)
	}
	return f, nil
}

// Read returns the tensors under a prefix, keyed by name without the prefix.
func Read(f *safetensors.File, prefix string) (map[string]classifier.Tensor, error) {
	out := map[string]classifier.Tensor{}
	for _, info := range f.Tensors() {
		name, ok := strings.CutPrefix(info.Name, prefix)
		if !ok {
			continue
		}
		t, err := f.Read(info.Name)
		if err != nil {
			return nil, err
		}
		if t.U8 != nil {
			return nil, fmt.Errorf("tensor %q holds bytes, which are not allowed here", info.Name)
		}
		out[name] = classifier.Tensor{Shape: t.Shape, F32: t.F32, F64: t.F64, I64: t.I64}
	}
	return out, nil
}

// Hashes returns the tensor of the hashes of some contents (n×32 bytes).
func Hashes(of [][sha256.Size]byte) safetensors.Tensor {
	content := make([]byte, 0, len(of)*sha256.Size)
	for _, h := range of {
		content = append(content, h[:]...)
	}
	return safetensors.Tensor{Shape: []int{len(of), sha256.Size}, U8: content}
}

// ReadHashes reads a tensor that Hashes returned.
func ReadHashes(f *safetensors.File, name string) ([][sha256.Size]byte, error) {
	t, err := f.Read(name)
	if err != nil {
		return nil, err
	}
	if len(t.Shape) != 2 || t.Shape[1] != sha256.Size || t.U8 == nil {
		return nil, fmt.Errorf("content hashes of shape %v", t.Shape)
	}
	hashes := make([][sha256.Size]byte, t.Shape[0])
	for i := range hashes {
		copy(hashes[i][:], t.U8[i*sha256.Size:])
	}
	return hashes, nil
}
