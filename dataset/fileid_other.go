//go:build !unix

package dataset

import (
	"io/fs"
	"path/filepath"
)

// fileID tells whether two paths lead to the same folder; without inodes, by
// the resolved path.
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
