package cache

import (
	"io/fs"
	"syscall"
)

// stateOf has the time of creation in place of an inode: a file that takes the place of another has its own.
func stateOf(info fs.FileInfo) FileState {
	s := FileState{Size: info.Size(), MtimeNs: info.ModTime().UnixNano()}
	if data, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		s.Inode = uint64(data.CreationTime.Nanoseconds())
	}
	return s
}
