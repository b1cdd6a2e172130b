package command

import (
	"io"
	"io/fs"
	"os"
	"runtime"

	"golang.org/x/term"
)

// clicked reports whether the program was started without a terminal and without anybody
// who reads what it prints, on a desktop: by a double click.
func clicked(stdin *os.File, stdout io.Writer, environ func(string) string) bool {
	out, ok := stdout.(*os.File)
	if !ok || term.IsTerminal(int(stdin.Fd())) || term.IsTerminal(int(out.Fd())) {
		return false
	}
	info, err := out.Stat()
	if err == nil && (info.Mode().IsRegular() || info.Mode()&fs.ModeNamedPipe != 0) {
		return false // for a file or another program
	}
	return runtime.GOOS == "darwin" || environ("DISPLAY") != "" || environ("WAYLAND_DISPLAY") != ""
}
