package ort

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// inspect says, from a file's headers alone, whether it is a whole shared
// library for the given system and which release it is ("" when the headers do
// not tell).
func inspect(path, goos, goarch string) (version string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return "", errors.New("is a folder: give the library file itself")
	}
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return "", errors.New("is not a file with content")
	}
	version, err = inspectFormat(f, info.Size(), goos, goarch)
	if err != nil {
		return "", err
	}
	return version, checkVersion(version)
}

// inspectFormat guards the header parsers: they are not hardened against
// every damaged file.
func inspectFormat(r io.ReaderAt, size int64, goos, goarch string) (version string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged library: %v", p)
		}
	}()
	switch goos {
	case "windows":
		return "", inspectPE(r, size, goarch)
	case "darwin":
		return inspectMachO(r, size, goarch)
	default:
		return inspectELF(r, size, goarch)
	}
}

// errDamaged covers the files that would kill a process that loads them.
var errDamaged = errors.New("truncated: the file ends before its contents do")

func inspectELF(r io.ReaderAt, size int64, goarch string) (string, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return "", fmt.Errorf("not a shared library of this system: %w", err)
	}
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	if want, ok := machines[goarch]; ok && f.Machine != want {
		return "", fmt.Errorf("made for another processor (%s, this program is %s)", f.Machine, goarch)
	}
	if f.Type != elf.ET_DYN {
		return "", fmt.Errorf("not a shared library (%s)", f.Type)
	}
	for _, p := range f.Progs {
		if !within(p.Off, p.Filesz, size) {
			return "", errDamaged
		}
	}
	return elfVersion(f)
}

// elfVersion reads the symbol version that ONNX Runtime's linker script gives
// to its entry point: VERS_1.30.0.
func elfVersion(f *elf.File) (string, error) {
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return "", fmt.Errorf("no symbols: %w", err)
	}
	for _, s := range symbols {
		if s.Name == "OrtGetApiBase" && s.Section != elf.SHN_UNDEF {
			version, _ := strings.CutPrefix(s.Version, "VERS_")
			return version, nil
		}
	}
	return "", errNotORT
}

var errNotORT = errors.New("a shared library, but not ONNX Runtime (no OrtGetApiBase in it)")

func inspectMachO(r io.ReaderAt, size int64, goarch string) (string, error) {
	f, err := macho.NewFile(r)
	if err != nil {
		return "", fmt.Errorf("not a shared library of this system: %w", err)
	}
	cpus := map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}
	if want, ok := cpus[goarch]; ok && f.Cpu != want {
		return "", fmt.Errorf("made for another processor (%s, this program is %s)", f.Cpu, goarch)
	}
	version := ""
	for _, l := range f.Loads {
		if s, ok := l.(*macho.Segment); ok && !within(s.Offset, s.Filesz, size) {
			return "", errDamaged
		}
		if v := machOIdentity(l.Raw(), f.ByteOrder); v != "" {
			version = v
		}
	}
	return version, machOEntry(f)
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

func machOEntry(f *macho.File) error {
	if f.Symtab == nil {
		return nil
	}
	for _, s := range f.Symtab.Syms {
		if s.Name == "_OrtGetApiBase" {
			return nil
		}
	}
	return errNotORT
}

func inspectPE(r io.ReaderAt, size int64, goarch string) error {
	f, err := pe.NewFile(r)
	if err != nil {
		return fmt.Errorf("not a library of this system: %w", err)
	}
	machines := map[string]uint16{"amd64": pe.IMAGE_FILE_MACHINE_AMD64, "arm64": pe.IMAGE_FILE_MACHINE_ARM64}
	if want, ok := machines[goarch]; ok && f.Machine != want {
		return fmt.Errorf("made for another processor (machine 0x%x, this program is %s)", f.Machine, goarch)
	}
	for _, s := range f.Sections {
		if !within(uint64(s.Offset), uint64(s.Size), size) {
			return errDamaged
		}
	}
	return peEntry(f)
}

// peEntry looks for the name in the read-only data, where linkers put the
// export table.
func peEntry(f *pe.File) error {
	for _, name := range []string{".rdata", ".edata"} {
		s := f.Section(name)
		if s == nil {
			continue
		}
		if b, err := s.Data(); err == nil && bytes.Contains(b, []byte("OrtGetApiBase")) {
			return nil
		}
	}
	return errNotORT
}

// within says whether [offset, offset+length) lies inside a file of size bytes.
func within(offset, length uint64, size int64) bool {
	end := offset + length
	return end >= offset && end <= uint64(size)
}
