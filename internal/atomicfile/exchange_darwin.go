package atomicfile

import "golang.org/x/sys/unix"

// Disks with APFS know both.
const swap, onlyNew = unix.RENAME_SWAP, unix.RENAME_EXCL

func renameat(from, to string, how uint) error { return unix.RenamexNp(from, to, uint32(how)) }
