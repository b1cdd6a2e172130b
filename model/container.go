package model

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/safetensors"
)

// headPrefix begins the names of the head's own tensors.
const headPrefix = "head."

// A container is a safetensors file to be: MODEL and side file alike.
type container struct {
	tensors  map[string]safetensors.Tensor
	metadata map[string]string
}

func newContainer(format, document string) container {
	return container{map[string]safetensors.Tensor{}, map[string]string{
		formatKey: format, versionKey: strconv.Itoa(formatVersion), documentKey: document,
	}}
}

func (c container) addState(s classifier.State) {
	c.addTensors(headPrefix, s.Tensors)
}

// digest returns what write would write.
func (c container) digest() (safetensors.Written, error) {
	return safetensors.Write(io.Discard, c.tensors, c.metadata)
}

// write makes the file durable under its name; before, unless nil, runs when
// everything is on disk, just before the rename.
func (c container) write(path string, before func() error) error {
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	w := bufio.NewWriterSize(f, 1<<20)
	if _, err := safetensors.Write(w, c.tensors, c.metadata); err != nil {
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

// openContainer checks that r holds size bytes of this format in a version
// that is known, whole and unaltered.
func openContainer(r io.ReaderAt, size int64, format string) (*safetensors.File, safetensors.Written, error) {
	f, err := openHeader(r, size, format)
	if err != nil {
		return nil, safetensors.Written{}, err
	}
	written, err := f.VerifyDigest()
	return f, written, err
}

// openHeader does the same without reading the data.
func openHeader(r io.ReaderAt, size int64, format string) (*safetensors.File, error) {
	f, err := safetensors.Open(r, size)
	if err != nil {
		return nil, notModel(err)
	}
	if got := f.Metadata()[formatKey]; got != format {
		return nil, wrongFormat(got)
	}
	version, err := strconv.Atoi(f.Metadata()[versionKey])
	if err != nil || version < 1 {
		return nil, fmt.Errorf("%w: its version is %q", ErrNotModel, f.Metadata()[versionKey])
	}
	if version < formatVersion {
		return nil, fmt.Errorf("%w: its format version is %d, this program knows %d: train again", ErrOlderVersion, version, formatVersion)
	}
	if version > formatVersion {
		return nil, fmt.Errorf("%w: its format version is %d, this program knows %d: update pipeline", ErrNewerVersion, version, formatVersion)
	}
	return f, nil
}

// readState collects the head's tensors.
func readState(f *safetensors.File, settings []byte) (classifier.State, error) {
	tensors, err := readTensors(f, headPrefix)
	return classifier.State{Settings: settings, Tensors: tensors}, err
}

// addTensors puts tensors into the file under a prefix.
func (c container) addTensors(prefix string, tensors map[string]classifier.Tensor) {
	for name, t := range tensors {
		c.tensors[prefix+name] = safetensors.Tensor{Shape: t.Shape, F32: t.F32, F64: t.F64, I64: t.I64}
	}
}

// readTensors collects the tensors under a prefix.
func readTensors(f *safetensors.File, prefix string) (map[string]classifier.Tensor, error) {
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
			return nil, fmt.Errorf("tensor %q: there should be no byte tensors here", info.Name)
		}
		out[name] = classifier.Tensor{Shape: t.Shape, F32: t.F32, F64: t.F64, I64: t.I64}
	}
	return out, nil
}
