//go:build !unix

package organise

// unwritable reports that a folder is read-only, as opposed to full.
func unwritable(error) bool { return false }
