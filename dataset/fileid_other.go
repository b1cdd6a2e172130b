//go:build !unix

package dataset

import (
	"io/fs"
	"path/filepath"
)

// fileID identifies a folder by its resolved path, where there are no inodes.
type fileID string

func idOf(path string, _ fs.FileInfo) fileID {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return fileID(path)
	}
	return fileID(abs)
}
