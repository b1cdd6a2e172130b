package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/internal/safetensors"
	"github.com/seed-90d10d51/pipeline/model/internal/container"
)

// Save writes the model atomically: it loads and compares the new file before it
// replaces the old one. The previous version becomes path.prev, unless
// DropPrevious is set; if it is identical, nothing is written. Save never replaces a
// file that is not a complete model, nor one that another process saved since this
// model was loaded from it (ErrChangedMeanwhile; the check is not a lock: of two renames
// within milliseconds the later wins), nor one that Replacing keeps. Leftovers of
// killed runs next to it are removed.
func (m *Model) Save(path string) error { return m.SaveLike(path, path) }

// SaveLike is Save of a model that belongs to another file: new files get the
// permissions of that one.
func (m *Model) SaveLike(path, other string) error {
	if err := m.save(resolve(path), other); err != nil {
		return fmt.Errorf("save model %s: %w", path, err)
	}
	return nil
}

func (m *Model) save(path, other string) error {
	current, err := existing(path)
	if err != nil {
		return err
	}
	if current != nil && m.onDisk.path == path && m.onDisk.written != *current {
		return ErrChangedMeanwhile
	}
	_, _ = atomicfile.RemoveStale(filepath.Dir(path)) // leftovers are harmless
	pointer, err := m.saveStatistics(path, other)
	if err != nil {
		return fmt.Errorf("statistics: %w", err)
	}
	c, err := m.encode(pointer)
	if err != nil {
		return err
	}
	next, err := c.Digest()
	if err != nil {
		return err
	}
	if current == nil || *current != next {
		before := func(temporary string) error {
			clear(c.Tensors) // written; readBack needs the memory
			err := m.readBack(temporary, next, pointer)
			if err == nil && m.Replacing != nil {
				err = m.Replacing(sumOf(current), sumOf(&next))
			}
			if err != nil {
				return errors.Join(err, removeUnreferenced(path))
			}
			if m.DropPrevious {
				return dropPrevious(path)
			}
			return keepPrevious(path)
		}
		if err := c.WriteLike(path, other, before); err != nil {
			return err
		}
	}
	if m.DropPrevious {
		if err := dropPrevious(path); err != nil { // there may be one even if the model is the same
			return err
		}
	}
	m.statistics.saved(path, pointer)
	m.changed, m.onDisk = false, version{path, next}
	return removeUnreferenced(path)
}

// existing verifies the file at path: nil for none (or an empty file), an error
// for anything but a complete model.
func existing(path string) (*safetensors.Written, error) {
	f, size, err := regularfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size == 0 {
		return nil, nil
	}
	_, written, err := container.Open(f, size, modelFormat)
	if errors.Is(err, ErrOlderVersion) {
		return &safetensors.Written{}, nil // Save replaces it and leaves it under path.prev
	}
	if err != nil {
		return nil, fmt.Errorf("the existing file is not a complete model and is not replaced (%w): move it away or "+
			"choose another name", err)
	}
	return &written, nil
}

// keepPrevious gives the current version its second name, by a hard link if
// possible, otherwise by a copy.
func keepPrevious(path string) error {
	current, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && current.Size() == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	previous := path + previousSuffix
	if same, err := os.Stat(previous); err == nil && os.SameFile(current, same) {
		return nil // a run was killed between the link and the rename
	}
	// On Windows no name can be taken from a file that another program holds, nor the link again.
	if runtime.GOOS != "windows" && linkPrevious(path, previous) == nil {
		return nil
	}
	return copyFile(previous, path)
}

func dropPrevious(path string) error {
	err := atomicfile.Remove(path + previousSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the previous version: %w", err)
	}
	return nil
}

// linkPrevious links to a temporary name that atomicfile.RemoveStale
// recognises, then renames, because a link cannot replace a file.
func linkPrevious(path, previous string) error {
	tmp := linkName(previous)
	if err := os.Link(path, tmp); err != nil {
		return err
	}
	if err := atomicfile.Rename(tmp, previous); err != nil {
		atomicfile.Remove(tmp)
		return err
	}
	return nil
}

func linkName(previous string) string {
	dir, base := filepath.Split(previous)
	return filepath.Join(dir, "."+base+".tmp-pipeline-"+strconv.FormatUint(rand.Uint64(), 36))
}

func copyFile(to, from string) error {
	in, _, err := regularfile.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	return atomicfile.Write(to, func(out *atomicfile.File) error {
		if err := out.Chmod(info.Mode().Perm()); err != nil {
			return err
		}
		_, err := io.Copy(out, in)
		return err
	})
}

// encode returns the model as a file.
func (m *Model) encode(pointer *statisticsPointer) (container.File, error) {
	state, err := m.Predictor.Save()
	if err != nil {
		return container.File{}, fmt.Errorf("%s: %w", m.Method, err)
	}
	d := m.document(pointer)
	d.Predictor = state.Settings
	text, err := json.Marshal(d)
	if err != nil {
		return container.File{}, err
	}
	c := container.New(modelFormat, string(text))
	c.Add("", state.Tensors)
	if m.Prior != nil {
		m.Prior.Encode(c)
	}
	return c, m.addSamples(c)
}

func (m *Model) document(pointer *statisticsPointer) document {
	d := document{
		Method: m.Method, Choice: m.Choice, HeadConfig: m.HeadConfig, Dim: m.Dim(), Classes: m.Classes(),
		Provenance: m.Provenance,
		Seed:       m.Seed, ToolVersion: m.ToolVersion, ClassFrom: m.ClassFrom,
		KeepStatistics: m.KeepStatistics, Traces: m.Traces, Statistics: pointer,
	}
	if m.Prior != nil {
		d.Prior = &m.Prior.Description
	}
	for _, s := range m.Sessions {
		d.Sessions = append(d.Sessions,
			sessionEntry{s.Index, append([]string{}, s.NewClasses...), s.Count(), s.FromStatistics, s.Refreshed})
	}
	if len(d.Classes) == 0 {
		d.Dim = 0 // a head that forgot everything accepts any dimension
	}
	return d
}

func (m *Model) addSamples(c container.File) error {
	column := map[string]int64{}
	for i, name := range m.Classes() {
		column[name] = int64(i)
	}
	n := m.SampleCount()
	content, class := make([]Hash, 0, n), make([]int64, 0, n)
	for at, id := range m.Sessions.samples() {
		i, ok := column[id.Class]
		if !ok {
			return fmt.Errorf("session %d has a sample of class %q, which the head does not have",
				m.Sessions[at].Index, id.Class)
		}
		content = append(content, id.Content)
		class = append(class, i)
	}
	c.Tensors[contentTensor] = container.Hashes(content)
	c.Tensors[classTensor] = safetensors.Tensor{Shape: []int{n}, I64: class}
	return nil
}
