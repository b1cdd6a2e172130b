package checkpoint

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/internal/safetensors"
)

// The metadata keys of a file, the name of its format, and the tensor that
// holds the settings, which may be larger than a header allows.
const (
	formatKey = "format"
	format    = "pipeline-checkpoint"
	partKey   = "key"
	settings  = "settings"
)

var errOther = errors.New("it was saved with other settings or inputs")

// write saves the settings and the float64 tensors of a state, all or nothing.
func write(file, key string, s classifier.State) error {
	tensors := map[string]safetensors.Tensor{settings: {Shape: []int{len(s.Settings)},
		U8: append([]byte{}, s.Settings...)}}
	for name, t := range s.Tensors {
		tensors[name] = safetensors.Tensor{Shape: t.Shape, F64: t.F64}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(file, func(out *atomicfile.File) error {
		w := bufio.NewWriterSize(out, 1<<20)
		if _, err := safetensors.Write(w, tensors, map[string]string{formatKey: format, partKey: key}); err != nil {
			return err
		}
		return w.Flush()
	})
}

// read reads what write wrote. A damaged file, or one with another format or
// key, is an error.
func read(file, key string) (classifier.State, error) {
	var s classifier.State
	in, size, err := regularfile.Open(file)
	if err != nil {
		return s, err
	}
	defer in.Close()
	f, err := safetensors.Open(in, size)
	if err != nil {
		return s, err
	}
	if _, err := f.VerifyDigest(); err != nil {
		return s, err
	}
	metadata := f.Metadata()
	if metadata[formatKey] != format {
		return s, fmt.Errorf("the format is %q, not %s", metadata[formatKey], format)
	}
	if metadata[partKey] != key {
		return s, errOther
	}
	s.Tensors = make(map[string]classifier.Tensor)
	for _, t := range f.Tensors() {
		v, err := f.Read(t.Name)
		if err != nil {
			return s, err
		}
		switch {
		case t.Name == settings:
			s.Settings = v.U8
		case v.F64 != nil:
			s.Tensors[t.Name] = classifier.Tensor{Shape: v.Shape, F64: v.F64}
		}
	}
	return s, nil
}
