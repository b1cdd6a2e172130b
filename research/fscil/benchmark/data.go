package benchmark

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

//go:embed data.yaml
var dataYAML []byte

// Data says where the images of a benchmark come from and what they are. They have
// terms of their own, so that users get them themselves.
type Data struct {
	Name string `yaml:"name"`
	// Get says what to get and where, Folder which folder of it is --images.
	Get    string `yaml:"get"`
	Folder string `yaml:"folder"`
	// Under are places of the class folders below that one, Classes and Images how many
	// folders and images there are; empty for data in files.
	Under   []string `yaml:"under"`
	Classes int      `yaml:"classes"`
	Images  int      `yaml:"images"`
	// Files holds the size of every file, for data in files.
	Files map[string]int64 `yaml:"files"`
}

// FindData returns the data of a benchmark, and false for others. It fails only in a broken
// build.
func FindData(name string) (d Data, known bool, err error) {
	all, err := decode[Data]("data", dataYAML)
	if err != nil {
		return d, false, err
	}
	i := slices.IndexFunc(all, func(d Data) bool { return d.Name == name })
	if i < 0 {
		return d, false, nil
	}
	return all[i], true, nil
}

// Where adds to an error where the data of a benchmark are, if that is known.
func Where(name string, err error) error {
	d, known, broken := FindData(name)
	if broken != nil || !known {
		return errors.Join(err, broken)
	}
	return fmt.Errorf("%w; get %s: --images is %s", err, d.Get, d.Folder)
}

// Differs compares a folder with the data and says in a sentence how it differs, and "" if it
// does not: then the published rows are of the same images. Cost: a look at every class folder,
// or at the sizes of the files.
func (d Data) Differs(dir string) (string, error) {
	for _, name := range slices.Sorted(maps.Keys(d.Files)) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		if n := info.Size(); n != d.Files[name] {
			return fmt.Sprintf("%s has %d bytes, that of the benchmark %d", name, n, d.Files[name]), nil
		}
	}
	if d.Classes == 0 {
		return "", nil
	}
	classes, images, err := d.count(dir)
	if err != nil || classes == d.Classes && images == d.Images {
		return "", err
	}
	return fmt.Sprintf("%d classes with %d files, the benchmark has %d with %d", classes, images, d.Classes, d.Images),
		nil
}

func (d Data) count(dir string) (classes, images int, err error) {
	var folders []fs.DirEntry
	for _, under := range d.Under {
		place := filepath.Join(dir, filepath.FromSlash(under))
		if folders, err = os.ReadDir(place); !errors.Is(err, fs.ErrNotExist) {
			dir = place
			break
		}
	}
	for _, f := range folders {
		folder := filepath.Join(dir, f.Name())
		if info, err := os.Stat(folder); err != nil || !info.IsDir() { // links count, as in a scan
			continue
		}
		files, err := os.ReadDir(folder)
		if err != nil {
			return 0, 0, err
		}
		classes, images = classes+1, images+len(files)
	}
	return classes, images, err
}
