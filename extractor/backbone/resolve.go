package backbone

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Dirs are the folders to search.
type Dirs struct {
	// Cache is where Pull stores files; "" means none.
	Cache string
}

// Resolve returns the backbone that ref names: "" is Default, a catalogue name is the pulled file (ErrNotPulled if it is not in the
// cache), anything else is a path. If it is neither, the error is an
// *UnknownNameError. A catalogue name takes precedence over a file of that
// name; write ./name for the file.
func Resolve(ref string, dirs Dirs) (File, error) {
	if ref == "" {
		ref = Default
	}
	if IsBuiltIn(ref) {
		return builtIn(ref)
	}
	entry, err := Lookup(ref)
	if err == nil {
		return pulled(entry, dirs)
	}
	var unknown *UnknownNameError
	if !errors.As(err, &unknown) {
		return File{}, err
	}
	if _, statErr := os.Stat(ref); looksLikePath(ref) || !errors.Is(statErr, fs.ErrNotExist) {
		return load(ref, ref, FromPath)
	}
	return File{}, err
}

// CachePath returns where Pull stores the file of e. The name includes a prefix
// of the hash, so that a later catalogue with another file of the same name
// cannot confuse the two.
func (d Dirs) CachePath(e Entry) string {
	return filepath.Join(d.Cache, e.Name+cacheSuffix(e.SHA256))
}

func cacheSuffix(sha256Hex string) string { return "-" + sha256Hex[:12] + ".onnx" }

// Pulled reports whether the file of e is in the cache. It checks only the
// name; Resolve checks the hash.
func (d Dirs) Pulled(e Entry) bool {
	if d.Cache == "" {
		return false
	}
	info, err := os.Stat(d.CachePath(e))
	return err == nil && info.Mode().IsRegular()
}

// pulled loads the file of a catalogue entry and verifies its hash.
func pulled(e Entry, dirs Dirs) (File, error) {
	if !dirs.Pulled(e) {
		return File{}, fmt.Errorf("backbone %s: %w; %s", e.Name, ErrNotPulled, e.howToGet())
	}
	path := dirs.CachePath(e)
	f, err := load(e.Name, path, FromCatalogue)
	if err == nil && f.SHA256 == e.SHA256 {
		return f, nil
	}
	if err == nil {
		err = &HashError{Path: path, Want: e.SHA256, Got: f.SHA256}
	}
	return File{}, fmt.Errorf("backbone %s: %w; delete the file and run: pipeline backbones pull %s", e.Name, err, e.Name)
}

func (e Entry) howToGet() string {
	if e.Pullable() {
		return "run: pipeline backbones pull " + e.Name
	}
	return "it cannot be downloaded: give the path of the file instead"
}

func looksLikePath(ref string) bool {
	return strings.ContainsAny(ref, `/\`) || strings.EqualFold(filepath.Ext(ref), ".onnx")
}
