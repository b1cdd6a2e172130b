//go:build !windows

package command

// fromExplorer reports whether Windows opened a console for the program alone.
func fromExplorer() bool { return false }
