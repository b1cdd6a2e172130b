package command

// Version is what tests of this package see besides its exported names.
func Version() string { return version }
