package backbone

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/phrase"
)

// FindByHash returns the backbone with the SHA-256 that a model recorded. It
// tries the built-in one, the cache, recordedPath and explicit (the path or
// name that the user gave as --backbone); either of the last two may be "". An
// explicit backbone with another hash is always an error, a *HashError that
// names both, even if the right one is available: embeddings of different
// networks have nothing in common.
func FindByHash(sha256Hex, recordedPath, explicit string, dirs Dirs) (File, error) {
	if err := checkHash(sha256Hex); err != nil {
		return File{}, fmt.Errorf("backbone of the model: %w", err)
	}
	if explicit != "" {
		return explicitWithHash(sha256Hex, explicit, dirs)
	}
	var wrong error
	for _, find := range []func() (File, error){
		builtIn,
		func() (File, error) { return inCache(sha256Hex, dirs) },
		func() (File, error) { return atRecordedPath(recordedPath) },
	} {
		f, err := find()
		if err == nil && f.SHA256 == sha256Hex {
			return f, nil
		}
		switch {
		case err == nil && f.Source != BuiltIn:
			wrong = also(wrong, &HashError{Path: f.Path, Want: sha256Hex, Got: f.SHA256})
		case err != nil && !errors.Is(err, errNotThere):
			wrong = also(wrong, err)
		}
	}
	return File{}, notFound(sha256Hex, wrong)
}

func explicitWithHash(sha256Hex, ref string, dirs Dirs) (File, error) {
	if old, err := Lookup(formerDefault); ref == byDefault && err == nil && old.SHA256 == sha256Hex {
		ref = formerDefault // as it was meant when the model was made
	}
	f, err := Resolve(ref, dirs)
	if err != nil {
		return File{}, err
	}
	if f.SHA256 != sha256Hex {
		return File{}, fmt.Errorf("the model was trained with another backbone: %w",
			&HashError{Path: f.Path, Want: sha256Hex, Got: f.SHA256})
	}
	return f, nil
}

var errNotThere = errors.New("not there")

// inCache finds the file by the hash prefix in its name, so that files whose
// catalogue entry was removed are found too. A damaged file does not hide another copy.
func inCache(sha256Hex string, dirs Dirs) (File, error) {
	if dirs.Cache == "" {
		return File{}, errNotThere
	}
	names, err := os.ReadDir(dirs.Cache)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, errNotThere
	} else if err != nil {
		return File{}, err
	}
	var wrong error
	for _, name := range names {
		base, ok := strings.CutSuffix(name.Name(), cacheSuffix(sha256Hex))
		if !ok {
			continue
		}
		f, err := load(base, filepath.Join(dirs.Cache, name.Name()), FromCatalogue)
		if err == nil && f.SHA256 == sha256Hex {
			return f, nil
		}
		if err == nil {
			err = &HashError{Path: f.Path, Want: sha256Hex, Got: f.SHA256}
		}
		wrong = also(wrong, err)
	}
	return File{}, cmp.Or(wrong, errNotThere)
}

func atRecordedPath(path string) (File, error) {
	if path == "" {
		return File{}, errNotThere
	}
	if _, err := os.Stat(path); err != nil {
		return File{}, err
	}
	return load(path, path, FromPath)
}

// notFound returns an error with the remedy; wrong is the error of files that
// should have matched.
func notFound(sha256Hex string, wrong error) error {
	remedy := "give the file with {backbone}"
	e, err := entryOf(sha256Hex)
	if err == nil && e != nil && e.Pullable() {
		remedy = "run: pipeline backbones pull " + e.Name + ", or " + remedy
	}
	const where = "not the built-in one, not in the cache, not at the path that the model recorded"
	none := fmt.Errorf("no backbone with SHA-256 %s here (%s)", sha256Hex, where)
	if wrong != nil {
		none = fmt.Errorf("%w: %w", none, wrong)
	}
	return phrase.New("%w; "+remedy, none)
}
