//go:build unix

package dataset

import (
	"io/fs"
	"syscall"
)

// fileID identifies a folder, whichever path leads to it.
type fileID struct{ dev, ino uint64 }

func idOf(_ string, info fs.FileInfo) fileID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{dev: uint64(st.Dev), ino: uint64(st.Ino)}
}
