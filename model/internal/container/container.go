// Package container is the safetensors file that a model, its statistics side
// file and a file of class statistics all are: tensors, a JSON document in the
// metadata, a format with a version, and a checksum at the end.
package container

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/safetensors"
)

// What can be wrong with a file, for errors.Is.
var (
	// ErrNewerVersion says that a later program wrote the file.
	ErrNewerVersion = errors.New("written by a newer version of pipeline")
	// ErrOlderVersion says that an earlier program wrote the file.
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
	// Foreign is the error that a file of another kind wraps.
	Foreign error
	// Again says how to replace a file of an older version.
	Again string
}

// known says what a file is that was taken for one of another format.
var known = map[string]string{
	"pipeline-model":            "it is a model",
	"pipeline-statistics":       "it is the statistics side file of a model",
	"pipeline-class-statistics": "it holds statistics of classes; pipeline train --stats makes a model of them",
}

// A File is the content of a file.
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

// Add puts tensors into the file under a prefix.
func (c File) Add(prefix string, tensors map[string]classifier.Tensor) {
	for name, t := range tensors {
		c.Tensors[prefix+name] = safetensors.Tensor{Shape: t.Shape, F32: t.F32, F64: t.F64, I64: t.I64}
	}
}

// Digest returns what Write would write.
func (c File) Digest() (safetensors.Written, error) {
	return safetensors.Write(io.Discard, c.Tensors, c.Metadata)
}

// Write makes the file durable under its name; before, unless nil, runs when
// everything is on disk, just before the rename.
func (c File) Write(path string, before func() error) error {
	f, err := atomicfile.Create(path)
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
		if err := before(); err != nil {
			return err
		}
	}
	return f.Commit()
}

// OpenRegular opens a file that is neither a folder nor a device, and returns
// its size.
func OpenRegular(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// Open checks that r holds size bytes of this format in the current version,
// whole and unaltered.
func Open(r io.ReaderAt, size int64, format Format) (*safetensors.File, safetensors.Written, error) {
	f, err := OpenHeader(r, size, format)
	if err != nil {
		return nil, safetensors.Written{}, err
	}
	written, err := f.VerifyDigest()
	return f, written, err
}

// Verify opens the file at path, checks all of it and closes it.
func Verify(path string, format Format) (safetensors.Written, error) {
	f, size, err := OpenRegular(path)
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
	version, err := strconv.Atoi(f.Metadata()[VersionKey])
	switch {
	case err != nil || version < 1:
		return nil, fmt.Errorf("%w: its version is %q", format.Foreign, f.Metadata()[VersionKey])
	case version > format.Version:
		return nil, fmt.Errorf("%w: its format version is %d, this program knows %d: update pipeline", ErrNewerVersion, version, format.Version)
	case version < format.Version:
		return nil, fmt.Errorf("%w: its format version is %d, this program reads %d: %s", ErrOlderVersion, version, format.Version, format.Again)
	}
	return f, nil
}

// Read returns the tensors under a prefix, by their names without it.
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
			return nil, fmt.Errorf("tensor %q holds bytes, which do not belong here", info.Name)
		}
		out[name] = classifier.Tensor{Shape: t.Shape, F32: t.F32, F64: t.F64, I64: t.I64}
	}
	return out, nil
}
