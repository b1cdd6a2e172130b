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
	// SetUp are where the network of new models may lie: SetUpName, which came with the
	// program or which its set-up obtained. Without them it is the built-in one.
	SetUp []string
}

// SetUpName is the catalogue's name of the network that the set-up obtains.
const SetUpName = "efficientnet-lite0"

// Resolve returns the backbone that ref names: "" is that of the set-up, or Default
// without one, a catalogue name is the pulled file (ErrNotPulled if it is not in the
// cache), anything else is a path. If it is neither, the error is an
// *UnknownNameError. A catalogue name takes precedence over a file of that
// name; write ./name for the file.
func Resolve(ref string, dirs Dirs) (File, error) {
	if ref == "" {
		return dirs.preferred()
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
	return filepath.Join(d.Cache, e.FileName())
}

// FileName returns the name of the file of e in a cache.
func (e Entry) FileName() string {
	return strings.TrimSuffix(e.Name+cacheSuffix(e.SHA256), onnxSuffix) + cmp.Or(e.suffix, onnxSuffix)
}

const onnxSuffix = ".onnx"

func cacheSuffix(sha256Hex string) string { return "-" + sha256Hex[:12] + onnxSuffix }

// folders returns all folders that may have files of the catalogue.
func (d Dirs) folders() []string {
	var folders []string
	if d.Cache != "" {
		folders = append(folders, d.Cache)
	}
	return append(folders, d.SetUp...)
}

// find returns where in these folders the file of e is. It checks only the name.
func (e Entry) find(folders []string) (path string, ok bool) {
	for _, dir := range folders {
		path := Dirs{Cache: dir}.CachePath(e)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, true
		}
	}
	return "", false
}

// Pulled reports whether all files of e are in the cache, or where the set-up put them. It
// checks only the names; Resolve and FindText check the hashes.
func (d Dirs) Pulled(e Entry) bool {
	return !slices.ContainsFunc(e.files(), func(file Entry) bool {
		_, ok := file.find(d.folders())
		return !ok
	})
}

// preferred loads the network of new models.
func (d Dirs) preferred() (File, error) {
	e, err := Lookup(SetUpName)
	if err != nil {
		return File{}, err
	}
	path, ok := e.find(d.SetUp)
	if !ok {
		return builtIn(Default)
	}
	return e.load(path, "pipeline setup")
}

// pulled loads the file of a catalogue entry.
func pulled(e Entry, dirs Dirs) (File, error) {
	path, ok := e.find(dirs.folders())
	if !ok {
		return File{}, fmt.Errorf("backbone %s: %w; %s", e.Name, ErrNotPulled, e.howToGet())
	}
	return e.load(path, "pipeline backbones pull "+e.Name)
}

// load reads the file of an entry and verifies its hash; command obtains it again.
func (e Entry) load(path, command string) (File, error) {
	f, err := load(e.Name, path, FromCatalogue)
	if err == nil && f.SHA256 == e.SHA256 {
		return f, nil
	}
	if err == nil {
		err = &HashError{Path: path, Want: e.SHA256, Got: f.SHA256}
	}
	return File{}, fmt.Errorf("backbone %s: %w; delete the file and run: %s", e.Name, err, command)
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
