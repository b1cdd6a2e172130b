package dataset

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// errInside ends a scan that has found what it looks for.
var errInside = errors.New("inside")

// Inside reports whether a path, which need not exist, is that of a folder or lies in it, so that
// a scan of the folder would find it: by whatever name, through symbolic links on either side, or
// below a folder that is mounted twice. No file is opened. If ctx ends first, links and mounts
// inside of the folder are unknown, and the answer is with its error.
func Inside(ctx context.Context, folder, path string) (bool, error) {
	above, err := foldersAbove(path)
	if err != nil {
		return false, err
	}
	s, err := newScanner(ctx, folder, ScanOptions{})
	if err != nil {
		return false, err
	}
	if above[s.top.id] {
		return true, nil
	}
	s.enters = func(f fileID) error {
		if above[f] {
			return errInside
		}
		return nil
	}
	err = s.run()
	if errors.Is(err, errInside) {
		return true, nil
	}
	return false, err
}

// foldersAbove returns the nearest folder to a path that exists, which may be the path itself, and
// those above it.
func foldersAbove(path string) (map[fileID]bool, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(path)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
		path = filepath.Dir(path)
		real, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return nil, err
	}
	above := map[fileID]bool{}
	for {
		info, err := os.Stat(real)
		if err != nil {
			return nil, err
		}
		above[idOf(real, info)] = true
		if filepath.Dir(real) == real {
			return above, nil
		}
		real = filepath.Dir(real)
	}
}
