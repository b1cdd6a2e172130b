package command

import "github.com/inconshreveable/mousetrap"

// fromExplorer reports whether Windows opened a console for the program alone.
func fromExplorer() bool { return mousetrap.StartedByExplorer() }
