package atomicfile

import "golang.org/x/sys/unix"

const swap, onlyNew = unix.RENAME_EXCHANGE, unix.RENAME_NOREPLACE

func renameat(from, to string, how uint) error {
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, how)
}
