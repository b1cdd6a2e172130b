package sharedlib

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// ErrNoFunction reports that a library has none of the wanted functions.
var ErrNoFunction = errors.New("the library has no such function")

// A Library is what the headers of a shared library reveal.
type Library struct {
	// Function is the first of the wanted functions that it has.
	Function string
	// Version is the symbol version of that function (ELF), the library's own
	// (Mach-O), or "".
	Version string
}

// Inspect reads the headers of a file for the given system. It loads nothing.
// For a library without any of the functions the error is ErrNoFunction; a
// library stripped of its symbol names (Mach-O) passes with the first function.
func Inspect(path, goos, goarch string, functions ...string) (Library, error) {
	f, size, err := regularfile.Open(path)
	if err != nil {
		return Library{}, err
	}
	defer f.Close()
	if size == 0 {
		return Library{}, errors.New("is an empty file")
	}
	return inspect(f, size, goos, goarch, functions)
}

// inspect recovers from panics of the header parsers, which are not hardened
// against every damaged file.
func inspect(r io.ReaderAt, size int64, goos, goarch string, functions []string) (lib Library, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged library: %v", p)
		}
	}()
	switch goos {
	case "windows":
		return inspectPE(r, size, goarch, functions)
	case "darwin":
		return inspectMachO(r, size, goarch, functions)
	default:
		return inspectELF(r, size, goarch, functions)
	}
}

// errDamaged reports a file that would kill a process that loads it.
var errDamaged = errors.New("truncated: the file ends before its contents do")

func inspectELF(r io.ReaderAt, size int64, goarch string, functions []string) (Library, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return Library{}, fmt.Errorf("not a shared library of this system: %w", err)
	}
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	if want, ok := machines[goarch]; ok && f.Machine != want {
		return Library{}, fmt.Errorf("made for another processor (%s, this program is %s)", f.Machine, goarch)
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

func inspectMachO(r io.ReaderAt, size int64, goarch string, functions []string) (Library, error) {
	f, err := macho.NewFile(r)
	if err != nil {
		return Library{}, fmt.Errorf("not a shared library of this system: %w", err)
	}
	cpus := map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}
	if want, ok := cpus[goarch]; ok && f.Cpu != want {
		return Library{}, fmt.Errorf("made for another processor (%s, this program is %s)", f.Cpu, goarch)
	}
	version := ""
	for _, l := range f.Loads {
		if s, ok := l.(*macho.Segment); ok && !within(s.Offset, s.Filesz, size) {
			return Library{}, errDamaged
		}
		if v := machOIdentity(l.Raw(), f.ByteOrder); v != "" {
			version = v
		}
	}
	name, err := machOFunction(f, functions)
	return Library{name, version}, err
}

// machOIdentity reads current_version of an LC_ID_DYLIB command: 16 bits
// major, 8 minor, 8 patch.
func machOIdentity(raw []byte, order binary.ByteOrder) string {
	const idDylib = 0xd
	if len(raw) < 20 || order.Uint32(raw) != idDylib {
		return ""
	}
	v := order.Uint32(raw[16:])
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d", v>>16, v>>8&0xff, v&0xff)
}

func machOFunction(f *macho.File, functions []string) (string, error) {
	if f.Symtab == nil && len(functions) > 0 {
		return functions[0], nil
	}
	for _, name := range functions {
		for _, s := range f.Symtab.Syms {
			if s.Name == "_"+name {
				return name, nil
			}
		}
	}
	return "", ErrNoFunction
}

func inspectPE(r io.ReaderAt, size int64, goarch string, functions []string) (Library, error) {
	f, err := pe.NewFile(r)
	if err != nil {
		return Library{}, fmt.Errorf("not a library of this system: %w", err)
	}
	machines := map[string]uint16{"amd64": pe.IMAGE_FILE_MACHINE_AMD64, "arm64": pe.IMAGE_FILE_MACHINE_ARM64}
	if want, ok := machines[goarch]; ok && f.Machine != want {
		return Library{}, fmt.Errorf("made for another processor (machine 0x%x, this program is %s)", f.Machine, goarch)
	}
	for _, s := range f.Sections {
		if !within(uint64(s.Offset), uint64(s.Size), size) {
			return Library{}, errDamaged
		}
	}
	name, err := peFunction(f, functions)
	return Library{Function: name}, err
}

// peFunction looks for the names in the read-only data, where linkers put the
// export table.
func peFunction(f *pe.File, functions []string) (string, error) {
	for _, section := range []string{".rdata", ".edata"} {
		s := f.Section(section)
		if s == nil {
			continue
		}
		b, err := s.Data()
		if err != nil {
			continue
		}
		for _, name := range functions {
			if bytes.Contains(b, []byte(name)) {
				return name, nil
			}
		}
	}
	return "", ErrNoFunction
}

// within reports whether [offset, offset+length) lies inside a file of size
// bytes.
func within(offset, length uint64, size int64) bool {
	end := offset + length
	return end >= offset && end <= uint64(size)
}
