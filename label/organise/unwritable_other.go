//go:build !unix

package organise

// unwritable says that a place takes no files, as opposed to being full.
func unwritable(error) bool { return false }
