package atomicfile

// What tests outside of the package share with those inside. They are outside where testenv, which
// removes folders with this package, is needed.
var (
	Fill      = fill
	Named     = named
	WantFiles = wantFiles
)
