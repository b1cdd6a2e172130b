package cache

import (
	"io/fs"
	"syscall"
)

func stateOf(info fs.FileInfo) FileState {
	s := FileState{Size: info.Size(), MtimeNs: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Inode, s.CtimeNs = uint64(st.Ino), st.Ctim.Nano()
	}
	return s
}
