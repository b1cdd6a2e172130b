package sharedlib

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// ErrNoFunction reports that a library has none of the wanted functions.
var ErrNoFunction = errors.New("the library has no such function")

// A Library is what a shared library reveals.
type Library struct {
	// Function is the first of the wanted functions that it has.
	Function string
	// Version is the symbol version of that function (ELF), or "".
	Version string
}

// Inspect finds out whether a file is a shared library of this system that has one of the
// functions; otherwise the error is ErrNoFunction. On Linux it reads the headers and loads
// nothing; elsewhere it loads the library, since the system refuses a bad one with an error.
func Inspect(path string, functions ...string) (Library, error) {
	f, size, err := regularfile.Open(path)
	if err != nil {
		return Library{}, err
	}
	defer f.Close()
	switch {
	case size == 0:
		return Library{}, errors.New("is an empty file")
	case runtime.GOOS != "linux":
		return tryOut(path, functions)
	}
	return inspectELF(f, size, functions)
}

// tryOut loads a library.
func tryOut(path string, functions []string) (Library, error) {
	handle, err := open(path)
	if err != nil {
		return Library{}, err
	}
	for _, name := range functions {
		if _, err := symbol(handle, name); err == nil {
			return Library{Function: name}, nil
		}
	}
	return Library{}, ErrNoFunction
}

// errDamaged reports a file that would kill a process that loads it.
var errDamaged = errors.New("truncated: the file ends before its contents do")

// inspectELF recovers from panics of the parser, which is not hardened against every
// damaged file.
func inspectELF(r io.ReaderAt, size int64, functions []string) (lib Library, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged library: %v", p)
		}
	}()
	f, err := elf.NewFile(r)
	if err != nil {
		return Library{}, fmt.Errorf("not a shared library of this system: %w", err)
	}
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	want, ok := machines[runtime.GOARCH]
	if ok && f.Machine != want {
		return Library{}, fmt.Errorf("made for another processor (%s, this program is %s)", f.Machine, runtime.GOARCH)
	}
	if f.Type != elf.ET_DYN {
		return Library{}, fmt.Errorf("not a shared library (%s)", f.Type)
	}
	for _, p := range f.Progs {
		if !within(p.Off, p.Filesz, size) {
			return Library{}, errDamaged
		}
	}
	return elfFunction(f, functions)
}

func elfFunction(f *elf.File, functions []string) (Library, error) {
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return Library{}, fmt.Errorf("no symbols: %w", err)
	}
	versions := make(map[string]string)
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			versions[s.Name] = s.Version
		}
	}
	for _, name := range functions {
		if version, ok := versions[name]; ok {
			return Library{name, version}, nil
		}
	}
	return Library{}, ErrNoFunction
}

// within reports whether [offset, offset+length) lies inside a file of size
// bytes.
func within(offset, length uint64, size int64) bool {
	end := offset + length
	return end >= offset && end <= uint64(size)
}
