package ort

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"

	"github.com/seed-90d10d51/pipeline/internal/sharedlib"
)

// quietly calls f while what libraries print to standard error goes nowhere: where there
// is no DirectX, ONNX Runtime says so there as it starts, whatever the level of its log.
func quietly(f func() error) error {
	restore := silence()
	defer restore()
	return f()
}

// silence turns the C library's standard error away, and returns what turns it back. The
// C library closes the handle that it turns away from. That is also this program's, so it
// is protected meanwhile; afterwards the C library has one of its own.
func silence() (restore func()) {
	nothing := func() {}
	handle := windows.Handle(os.Stderr.Fd())
	if _, err := windows.GetFileType(handle); err != nil {
		return nothing // there is no standard error
	}
	system, err := windows.GetSystemDirectory()
	if err != nil {
		return nothing
	}
	const standardError, writeOnly = 2, 1
	var open func(name string, flags int32) int32
	var duplicate, closeFile func(file int32) int32
	var replace func(from, to int32) int32
	if sharedlib.Load(filepath.Join(system, "ucrtbase.dll"), map[string]any{
		"_open": &open, "_dup": &duplicate, "_dup2": &replace, "_close": &closeFile}, nil) != nil {
		return nothing
	}
	nowhere := open("NUL", writeOnly)
	if nowhere < 0 {
		return nothing
	}
	defer closeFile(nowhere)
	kept := duplicate(standardError)
	if kept < 0 {
		return nothing
	}
	const protected = 2 // HANDLE_FLAG_PROTECT_FROM_CLOSE
	if windows.SetHandleInformation(handle, protected, protected) != nil {
		closeFile(kept)
		return nothing
	}
	replace(nowhere, standardError)
	return func() {
		replace(kept, standardError)
		closeFile(kept)
		_ = windows.SetHandleInformation(handle, protected, 0)
	}
}
