//go:build !unix

package cache

import "io/fs"

// stateOf has no inode to offer here.
func stateOf(info fs.FileInfo) FileState {
	return FileState{Size: info.Size(), MtimeNs: info.ModTime().UnixNano()}
}
