package atomicfile

import "os"

// Rename is os.Rename for files and folders that are not open in this process: Windows
// refuses to rename, replace or remove a file while it is open, and a folder while
// anything in it is. There Rename, Remove and RemoveAll wait a moment for other programs,
// such as virus scanners, to close it, and their errors say what was in the way.
func Rename(from, to string) error {
	mustBeClosed(from, to)
	return patiently(func() error { return os.Rename(from, to) })
}

// Remove is os.Remove for what is not open, as for Rename.
func Remove(name string) error {
	mustBeClosed(name)
	return patiently(func() error { return os.Remove(name) })
}

// RemoveAll is os.RemoveAll for what is not open, as for Rename.
func RemoveAll(name string) error {
	mustBeClosed(name)
	return patiently(func() error { return removeAll(name) })
}
