package atomicfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestOpenFilesKeepTheirNames: what is open, or holds what is open, is not renamed,
// replaced or removed, under whatever name it was opened. A lock of this package is no
// hindrance.
func TestOpenFilesKeepTheirNames(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, folder := range []string{"in", "other"} {
		must.Do(t, os.Mkdir(at(folder), 0o755))
	}
	for _, file := range []string{"in/open", "free", "other/free"} {
		must.Do(t, os.WriteFile(at(file), nil, 0o644))
	}
	must.Do(t, os.Symlink(dir, at("other/way")))
	must.Do(t, os.Link(at("in/open"), at("other/link")))
	f := must.Get(os.Open(at("other/way/in/open")))(t)
	hidden := map[string]func() error{
		"renamed":          func() error { return Rename(at("in/open"), at("new")) },
		"replaced":         func() error { return Rename(at("free"), at("in/open")) },
		"removed":          func() error { return Remove(at("in/open")) },
		"another link":     func() error { return Remove(at("other/link")) },
		"folder renamed":   func() error { return Rename(at("in"), at("new")) },
		"folder removed":   func() error { return RemoveAll(at("in")) },
		"by a link":        func() error { return RemoveAll(at("other/way/in")) },
		"folder exchanged": func() error { return renew(at("in")) },
	}
	for name, change := range hidden {
		if said := refused(change); !strings.Contains(said, "in/open is open") {
			t.Errorf("%s: %q", name, said)
		}
	}
	for _, change := range []func() error{
		func() error { return Remove(at("other/way")) },
		func() error { return Rename(at("free"), at("other/free")) },
		f.Close,
		func() error { return renew(at("in")) },
		func() error { return RemoveAll(at("in")) },
	} {
		if said := refused(change); said != "<nil>" {
			t.Error(said)
		}
	}
}

// renew replaces a folder.
func renew(dir string) error {
	d, err := CreateDir(dir, nil)
	if err != nil {
		return err
	}
	defer d.Abort()
	return d.Commit()
}

// refused returns what a change panics with, or its error.
func refused(change func() error) (said string) {
	defer func() {
		if p := recover(); p != nil {
			said = fmt.Sprint(p)
		}
	}()
	return fmt.Sprint(change())
}
