package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// A folder is written under a temporary name. What somebody else put into an earlier
// version of it stays.
type folder struct {
	name  string
	files []string // below the folder, in order
	dir   *atomicfile.Dir
	open  []*file
}

// newFolder begins the folder of a format with some files. Another run may have written
// earlier ones instead.
func newFolder(results, name string, files []string, earlier ...string) (*folder, error) {
	if err := os.MkdirAll(results, 0o755); err != nil {
		return nil, err
	}
	_, _ = atomicfile.RemoveStale(results) // leftovers only take up space
	f := &folder{name: name, files: files}
	dir, err := atomicfile.CreateDir(filepath.Join(results, name), func(place, _ string, e fs.DirEntry) bool {
		return e.Type().IsRegular() && (slices.Contains(files, place) || slices.Contains(earlier, place))
	})
	f.dir = dir
	return f, err
}

// Files implements label.Lister.
func (f *folder) Files() []string { return below(f.name, f.files) }

func (f *folder) create(name string) (*file, error) {
	file, err := createFile(filepath.Join(f.dir.Path(), name))
	if err == nil {
		f.open = append(f.open, file)
	}
	return file, err
}

// Commit implements label.Sink, once the files are closed.
func (f *folder) Commit(embedding.Outcome) error { return f.dir.Commit() }

// Abort implements label.Sink.
func (f *folder) Abort() {
	for _, file := range f.open {
		_ = file.f.Close() // perhaps again
	}
	f.dir.Abort()
}

// A file is buffered, and on disk when it is closed.
type file struct {
	*bufio.Writer
	f *os.File
}

func createFile(name string) (*file, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	return &file{bufio.NewWriter(f), f}, nil
}

func (f *file) close() error {
	return errors.Join(f.Flush(), f.f.Sync(), f.f.Close())
}

// writeFile makes a file of a text.
func writeFile(name string, text []byte) error {
	f, err := createFile(name)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.close())
}

// appendTo writes all of the file at the end of another one, and removes it.
func (f *file) appendTo(w io.Writer) error {
	if err := f.Flush(); err != nil {
		return err
	}
	if _, err := f.f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(w, f.f)
	return errors.Join(err, f.f.Close(), atomicfile.Remove(f.f.Name()))
}

// An array is written item by item.
type array struct {
	w io.Writer
	n int
}

func (a *array) add(item any) error {
	text, err := jsonOf(item)
	if err != nil {
		return err
	}
	separator := ",\n"
	if a.n == 0 {
		separator = "\n"
	}
	a.n++
	_, err = io.WriteString(a.w, separator+string(text))
	return err
}

// jsonOf is JSON in one line, with <, > and & as they are.
func jsonOf(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
