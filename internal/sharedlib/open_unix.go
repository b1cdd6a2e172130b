//go:build (linux || darwin) && (amd64 || arm64)

package sharedlib

import (
	"debug/elf"
	"os"
	"path/filepath"

	"github.com/ebitengine/purego"
)

// open first opens the libraries beside a library that it needs: those of wheels do not say
// that they are there, and what is open already is not looked for.
func open(path string) (uintptr, error) {
	for _, needed := range companions(path) {
		if _, err := dlopen(needed); err != nil {
			return 0, err
		}
	}
	return dlopen(path)
}

func dlopen(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// companions returns the libraries in the folder of an ELF library that it needs, each after
// those that it needs itself.
func companions(path string) (found []string) {
	seen := map[string]bool{path: true}
	var visit func(string)
	visit = func(library string) {
		for _, name := range imports(library) {
			file := filepath.Join(filepath.Dir(path), filepath.Base(name))
			_, err := os.Stat(file)
			if err != nil || seen[file] {
				continue
			}
			seen[file] = true
			visit(file)
			found = append(found, file)
		}
	}
	visit(path)
	return found
}

// imports returns the names of the libraries that an ELF library needs, none for another file:
// those of macOS say where they are.
func imports(library string) []string {
	f, err := elf.Open(library)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, err := f.ImportedLibraries()
	if err != nil {
		return nil // the linker says why
	}
	return names
}

func symbol(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }
