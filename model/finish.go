package model

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// FinishForgetting completes what was interrupted after the model at path had been
// saved without what was to be forgotten: it removes the previous version if holds,
// unless nil, says that it still has that, or if it cannot be read, then the
// statistics that no version refers to. It returns the files that it removed.
func FinishForgetting(path string, holds func(previous *Model) bool) (removed []string, err error) {
	path = resolve(path)
	if removed, err = finishForgetting(path, holds); err != nil {
		return nil, fmt.Errorf("forget what is left next to %s: %w", path, err)
	}
	return removed, nil
}

func finishForgetting(path string, holds func(*Model) bool) ([]string, error) {
	before, err := Beside(path)
	if err != nil {
		return nil, err
	}
	if holds != nil && mayHold(path+previousSuffix, holds) {
		if err := dropPrevious(path); err != nil {
			return nil, err
		}
	}
	_, _ = atomicfile.RemoveStale(filepath.Dir(path)) // leftovers are harmless
	if err := removeUnreferenced(path); err != nil {
		return nil, err
	}
	after, err := Beside(path)
	return slices.DeleteFunc(before, func(name string) bool { return slices.Contains(after, name) }), err
}

// mayHold is true for a file that cannot be read.
func mayHold(file string, holds func(*Model) bool) bool {
	m, err := Load(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return err != nil || holds(m)
}
