package checkpoint

import (
	"bufio"
	"fmt"
	"os"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/safetensors"
)

// Keys of the metadata of a file.
const (
	formatKey   = "format"
	settingsKey = "settings"
)

// Write writes the settings and the float64 tensors of a state under its name,
// all or nothing. Format is what Read must be told.
func Write(file, format string, s classifier.State) error {
	tensors := make(map[string]safetensors.Tensor, len(s.Tensors))
	for name, t := range s.Tensors {
		tensors[name] = safetensors.Tensor{Shape: t.Shape, F64: t.F64}
	}
	out, err := atomicfile.Create(file)
	if err != nil {
		return err
	}
	defer out.Abort()
	w := bufio.NewWriterSize(out, 1<<20)
	if _, err := safetensors.Write(w, tensors, map[string]string{formatKey: format, settingsKey: string(s.Settings)}); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return out.Commit()
}

// Read reads what Write wrote. A damaged file, or one of another format, is an
// error.
func Read(file, format string) (classifier.State, error) {
	in, err := os.Open(file)
	if err != nil {
		return classifier.State{}, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return classifier.State{}, err
	}
	f, err := safetensors.Open(in, info.Size())
	if err == nil {
		_, err = f.VerifyDigest()
	}
	if err == nil && f.Metadata()[formatKey] != format {
		err = fmt.Errorf("its format is %q, not %s", f.Metadata()[formatKey], format)
	}
	if err != nil {
		return classifier.State{}, fmt.Errorf("%s: %w", file, err)
	}
	s := classifier.State{Settings: []byte(f.Metadata()[settingsKey]), Tensors: make(map[string]classifier.Tensor)}
	for _, t := range f.Tensors() {
		v, err := f.Read(t.Name)
		if err != nil {
			return s, fmt.Errorf("%s: %w", file, err)
		}
		if v.F64 != nil {
			s.Tensors[t.Name] = classifier.Tensor{Shape: v.Shape, F64: v.F64}
		}
	}
	return s, nil
}
