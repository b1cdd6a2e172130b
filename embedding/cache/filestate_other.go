//go:build !unix

package cache

import "io/fs"

// stateOf leaves the inode zero on this platform.
func stateOf(info fs.FileInfo) FileState {
	return FileState{Size: info.Size(), MtimeNs: info.ModTime().UnixNano()}
}
