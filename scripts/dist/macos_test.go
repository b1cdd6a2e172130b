package dist_test

import (
	"bytes"
	"crypto/sha256"
	"debug/macho"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// newestMac is the macOS that everything in the archive runs on, as load commands write 14.0.
const newestMac = 14 << 16

// Load commands, and parts of a signature, that debug/macho does not know.
const (
	lcCodeSignature  = 0x1d
	lcBuildVersion   = 0x32
	magicSignature   = 0xfade0cc0
	magicDirectory   = 0xfade0c02
	hashSHA256       = 2
	directoryHashAt  = 16
	directoryHeaders = 44
)

// isMac reports whether an archive is for macOS, by its name.
func isMac(archive string) bool { return strings.Contains(archive, "-darwin-") }

// testLoadCommands: every program and library in the archive is for arm64 and macOS 14, needs nothing but what is in
// it and in the system, and has a signature that fits, without which the system ends it.
func testLoadCommands(t *testing.T, files map[string][]byte) {
	var found []string
	for name, file := range files {
		if len(file) < 4 || binary.LittleEndian.Uint32(file) != macho.Magic64 {
			continue
		}
		found = append(found, name)
		if err := runsOnMac(file, files); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	slices.Sort(found)
	want := []string{"lib/libde265.0.2.0.dylib", "lib/libheif.1.23.0.dylib", "lib/libonnxruntime.1.30.0.dylib",
		"lib/libvips.42.dylib", "pipeline"}
	if !slices.Equal(found, want) {
		t.Errorf("programs and libraries: %q", found)
	}
}

func runsOnMac(file []byte, files map[string][]byte) error {
	f, err := macho.NewFile(bytes.NewReader(file))
	if err != nil {
		return err
	}
	if f.Cpu != macho.CpuArm64 {
		return fmt.Errorf("for %s", f.Cpu)
	}
	needed, err := f.ImportedLibraries()
	if err != nil {
		return err
	}
	for _, library := range needed {
		shipped := strings.HasPrefix(library, "@") && files["lib/"+path.Base(library)] != nil
		if !shipped && !strings.HasPrefix(library, "/usr/lib/") && !strings.HasPrefix(library, "/System/Library/") {
			return fmt.Errorf("needs %s", library)
		}
	}
	signed := false
	for _, load := range f.Loads {
		raw := load.Raw()
		switch binary.LittleEndian.Uint32(raw) {
		case lcBuildVersion:
			if oldest := binary.LittleEndian.Uint32(raw[12:]); oldest > newestMac {
				return fmt.Errorf("needs macOS %d.%d", oldest>>16, oldest>>8&0xff)
			}
		case lcCodeSignature:
			at, size := binary.LittleEndian.Uint32(raw[8:]), binary.LittleEndian.Uint32(raw[12:])
			if err := checkSignature(file, file[at:at+size]); err != nil {
				return err
			}
			signed = true
		}
	}
	if !signed {
		return errors.New("is not signed")
	}
	return nil
}

// checkSignature compares the hashes in a signature with the pages of the file before it.
func checkSignature(file, signature []byte) error {
	u32 := func(b []byte, at int) int { return int(binary.BigEndian.Uint32(b[at:])) }
	if u32(signature, 0) != magicSignature {
		return errors.New("the signature is none")
	}
	checked := 0
	for i := range u32(signature, 8) {
		blob := signature[u32(signature, 16+8*i):]
		if u32(blob, 0) != magicDirectory || blob[37] != hashSHA256 {
			continue
		}
		hashes, slots, limit, size := u32(blob, directoryHashAt), u32(blob, 28), u32(blob, 32), 1<<blob[39]
		if n := (limit + size - 1) / size; n != slots || hashes < directoryHeaders {
			return fmt.Errorf("%d hashes of %d pages", slots, n)
		}
		for page := range slots {
			sum := sha256.Sum256(file[page*size : min((page+1)*size, limit)])
			if !bytes.Equal(sum[:], blob[hashes+page*sha256.Size:][:sha256.Size]) {
				return fmt.Errorf("page %d is not the one that was signed", page)
			}
		}
		checked += slots
	}
	if checked == 0 {
		return errors.New("the signature has no page with SHA-256")
	}
	return nil
}

// TestSignature: a signature fits the pages that it was made of, and no others.
func TestSignature(t *testing.T) {
	const limit = 4096 + 100
	file := bytes.Repeat([]byte("page"), limit/4)
	directory := make([]byte, directoryHeaders)
	put := func(b []byte, at int, v uint32) { binary.BigEndian.PutUint32(b[at:], v) }
	put(directory, 0, magicDirectory)
	put(directory, directoryHashAt, directoryHeaders)
	put(directory, 28, 2)
	put(directory, 32, limit)
	directory[36], directory[37], directory[39] = sha256.Size, hashSHA256, 12
	for _, page := range [][]byte{file[:4096], file[4096:]} {
		sum := sha256.Sum256(page)
		directory = append(directory, sum[:]...)
	}
	signature := make([]byte, 20)
	put(signature, 0, magicSignature)
	put(signature, 8, 1)
	put(signature, 16, 20)
	signature = append(signature, directory...)
	if err := checkSignature(file, signature); err != nil {
		t.Error(err)
	}
	for _, at := range []int{0, 4095, 4096, limit - 1} {
		changed := bytes.Clone(file)
		changed[at]++
		if err := checkSignature(changed, signature); err == nil {
			t.Errorf("byte %d was changed, and the signature still fits", at)
		}
	}
	put(signature, 20+28, 1)
	if err := checkSignature(file, signature); err == nil {
		t.Error("a page without a hash passes")
	}
}
