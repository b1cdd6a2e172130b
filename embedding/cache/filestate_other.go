//go:build !linux && !darwin && !windows

package cache

import "io/fs"

// stateOf leaves inode and time of change zero on this platform.
func stateOf(info fs.FileInfo) FileState {
	return FileState{Size: info.Size(), MtimeNs: info.ModTime().UnixNano()}
}
