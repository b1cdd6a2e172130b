package regularfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/windows"
)

// patience is how long Patiently waits for other programs.
const patience = 2 * time.Second

// Patiently repeats what fails for one of some reasons until other programs, such as virus
// scanners, have closed a file. It returns the last error after two seconds.
func Patiently(do func() error, reasons ...error) error {
	deadline := time.Now().Add(patience)
	for wait := time.Millisecond; ; wait *= 2 {
		err := do()
		mayPass := slices.ContainsFunc(reasons, func(reason error) bool { return errors.Is(err, reason) })
		if !mayPass || time.Now().Add(wait).After(deadline) {
			return err
		}
		time.Sleep(wait)
	}
}

// openFile is os.OpenFile, but waits for a program that shares the file with no other.
func openFile(name string, flags int, mode fs.FileMode) (f *os.File, err error) {
	err = Patiently(func() error {
		f, err = os.OpenFile(name, flags, mode)
		return err
	}, windows.ERROR_SHARING_VIOLATION)
	var failure *fs.PathError
	if errors.As(err, &failure) && errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		failure.Err = fmt.Errorf("another program has it open for itself: close it there and try again (%w)",
			windows.ERROR_SHARING_VIOLATION)
	}
	return f, err
}
