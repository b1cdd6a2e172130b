package model

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/model/internal/container"
)

const (
	statisticsInfix   = ".stats-"
	statisticsHashLen = 16
)

// statistics tracks the side file of a model. The file is read only when an
// operation may need it: it can be many times the size of the model.
type statistics struct {
	model   string // path of the MODEL that the pointer is relative to
	pointer *statisticsPointer
	// tried means that the head has the side file's statistics, or that problem is why
	// not, so that operations that need the exact statistics fail.
	tried   bool
	problem error
}

// saved records where the side file is now. A head that learned everything in
// this process does not need to read it.
func (s *statistics) saved(model string, pointer *statisticsPointer) {
	s.tried = s.tried || s.model == ""
	s.model, s.pointer = model, pointer
}

func statisticsPath(model string, p statisticsPointer) string {
	return model + statisticsInfix + p.SHA256[:statisticsHashLen]
}

// StatisticsPath returns the expected path of the side file, "" if there is
// none.
func (m *Model) StatisticsPath() string {
	if m.statistics.pointer == nil {
		return ""
	}
	return statisticsPath(m.statistics.model, *m.statistics.pointer)
}

// restore reads the side file into the head, once. A failure is remembered: the head
// works without the statistics, and refuses what needs them.
func (s *statistics) restore(head classifier.Learner) {
	keeper, ok := head.(classifier.StatisticsKeeper)
	if !ok || s.tried || s.model == "" {
		return // not needed, or the head learned everything itself
	}
	s.tried = true
	if s.pointer == nil {
		s.problem = fmt.Errorf("%w: the model was saved without them", classifier.ErrNoStatistics)
		return
	}
	side := statisticsPath(s.model, *s.pointer)
	if err := readStatistics(side, s.pointer.SHA256, keeper); err != nil {
		s.problem = fmt.Errorf("%w: side file %s: %w", classifier.ErrNoStatistics, side, err)
	}
}

// explain adds to a head's error why its statistics are missing, unless the
// error has a different cause.
func (s *statistics) explain(err error) error {
	for _, other := range []error{context.Canceled, context.DeadlineExceeded, classifier.ErrUnknownClass} {
		if s.problem == nil || errors.Is(err, other) {
			return err
		}
	}
	return fmt.Errorf("%w (%w)", err, s.problem)
}

// readStatistics reads the side file with the given hash into a head.
func readStatistics(side, sha256 string, keeper classifier.StatisticsKeeper) error {
	f, size, err := regularfile.Open(side)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("it is missing")
	}
	if err != nil {
		return err
	}
	defer f.Close()
	file, written, err := container.Open(f, size, statisticsFormat)
	if err != nil {
		return err
	}
	if hex.EncodeToString(written.SHA256[:]) != sha256 {
		return fmt.Errorf("%w: it does not belong to this model", ErrAltered)
	}
	tensors, err := container.Read(file, headPrefix)
	if err != nil {
		return err
	}
	return keeper.RestoreStatistics(classifier.State{Settings: []byte(file.Metadata()[container.DocumentKey]),
		Tensors: tensors})
}

// saveStatistics writes the side file for a MODEL at path, unless it exists, with the
// permissions of other, and returns the pointer to it, nil if there are no statistics.
func (m *Model) saveStatistics(path, other string) (*statisticsPointer, error) {
	keeper, ok := m.Predictor.Head.(classifier.StatisticsKeeper)
	if !ok || !m.KeepStatistics {
		return nil, nil
	}
	m.statistics.restore(m.Predictor.Head)
	if m.statistics.problem != nil && !m.changed {
		return m.statistics.pointer, nil // the file may come back
	}
	state, err := keeper.Statistics()
	if errors.Is(err, classifier.ErrUnsupported) || err == nil && len(state.Tensors) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return writeStatistics(path, other, state)
}

func writeStatistics(path, other string, state classifier.State) (*statisticsPointer, error) {
	c := container.New(statisticsFormat, string(state.Settings))
	c.Add(headPrefix, state.Tensors)
	written, err := c.Digest()
	if err != nil {
		return nil, err
	}
	p := statisticsPointer{hex.EncodeToString(written.SHA256[:]), written.Bytes}
	side := statisticsPath(path, p)
	if intact(side, p) {
		return &p, nil
	}
	return &p, c.WriteLike(side, other, nil)
}

// intact reports whether the side file exists unaltered.
func intact(side string, p statisticsPointer) bool {
	written, err := container.Verify(side, statisticsFormat)
	return err == nil && hex.EncodeToString(written.SHA256[:]) == p.SHA256
}

// removeUnreferenced removes side files that neither the model nor its previous
// version refers to. If either cannot be read, it removes nothing.
func removeUnreferenced(path string) error {
	keep := map[string]bool{}
	for _, version := range []string{path, path + previousSuffix} {
		p, err := pointerOf(version)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil
		}
		if p != nil {
			keep[filepath.Base(statisticsPath(path, *p))] = true
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, e := range entries {
		hash, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+statisticsInfix)
		if !ok || !isHex(hash, statisticsHashLen) || keep[e.Name()] {
			continue
		}
		if err := atomicfile.Remove(filepath.Join(filepath.Dir(path), e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Beside returns the existing files that belong to the model at path: its previous
// version, and the statistics of both.
func Beside(path string) ([]string, error) {
	path = resolve(path)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(path))
		hash, side := strings.CutPrefix(rest, statisticsInfix)
		if ok && (rest == previousSuffix || side && isHex(hash, statisticsHashLen)) {
			files = append(files, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return files, nil
}

// pointerOf returns a model's reference to its side file, reading only the
// header.
func pointerOf(path string) (*statisticsPointer, error) {
	f, size, err := regularfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	file, err := container.OpenHeader(f, size, modelFormat)
	if err != nil {
		return nil, err
	}
	return decodePointer(file.Metadata()[container.DocumentKey])
}
