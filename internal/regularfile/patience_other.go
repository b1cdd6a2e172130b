//go:build !windows

package regularfile

import (
	"io/fs"
	"os"
)

func openFile(name string, flags int, mode fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flags, mode)
}
