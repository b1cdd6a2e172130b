package export

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/organise"
)

const (
	folderName   = "imagefolder"
	metadataFile = "metadata.jsonl"
	cardFile     = "README.md"
)

// An imageFolder has the photos that have a class, by class, and in each part of the split
// a table of them. The photos are hard links, which take no space, or copies where the file
// system has no such links; of boxes it has pictures of what the backbone sees. README.md tells
// the loader which folder is which part: from names alone it would take a class "test" for one.
type imageFolder struct {
	*organise.Tree
	root   string
	crop   func(file string, b *dataset.Box) ([]byte, error)
	splits []string
	tables map[string]*file // by split
	photos map[string]int   // by split
}

// A photoRow is a line of metadata.jsonl. No field is missing in one row and there in
// another, and none changes its type, as the loader demands.
type photoRow struct {
	File        string   `json:"file_name"`
	Label       string   `json:"label"`  // "" for several things
	Labels      []string `json:"labels"` // what the photo shows
	Probability float    `json:"probability"`
	New         *float   `json:"p_new,omitempty"`
	By          label.By `json:"by"`
	// Of is the photo of a box, and Box where it is in it.
	Of  string `json:"of,omitempty"`
	Box string `json:"box,omitempty"`
}

func newImageFolder(o Options) (label.Sink, error) {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	f := &imageFolder{root: o.Root, crop: o.Crop, splits: o.Splits, tables: map[string]*file{},
		photos: map[string]int{}}
	if f.splits == nil {
		f.splits = []string{""}
	}
	layout := organise.Layout{ImageAt: imageAt(o.Root), CropOf: cropOf(o.Root), Files: []string{cardFile, metadataFile}}
	for _, split := range []string{"train", "validation", "test"} { // of this run or an earlier one
		layout.Files = append(layout.Files, path.Join(split, metadataFile))
	}
	var err error
	f.Tree, err = organise.NewTreeOf(layout, organise.HardLinks, o.Root, filepath.Join(o.Dir, folderName))
	if err != nil {
		return nil, err
	}
	for _, split := range f.splits {
		folder, err := f.Folder(filepath.Clean(split))
		if err == nil {
			f.tables[split], err = createFile(filepath.Join(f.Path(), folder, metadataFile))
		}
		if err != nil {
			f.Abort()
			return nil, err
		}
	}
	return f, nil
}

// severalFolder has the photos that show several things; no class has a folder of that name.
const severalFolder = "_several"

// placeOf returns the path below the folder of a part: the folder of the class, then the path
// of the photo, in names that every system can have. A photo that lies in a folder of the
// class is there under the path below that, unless another photo is.
func placeOf(root, folder, image string) string {
	outside := filepath.IsAbs(filepath.FromSlash(image))
	if outside {
		image = organise.OutsideName(image)
	}
	parts := []string{folder}
	for part := range strings.SplitSeq(image, "/") {
		parts = append(parts, notOurs(organise.FileName(dataset.EscapePath(part))))
	}
	_, below, nested := strings.Cut(image, "/")
	if !outside && nested && parts[1] == folder {
		if _, err := os.Lstat(dataset.FullPath(root, below)); errors.Is(err, fs.ErrNotExist) {
			parts = parts[1:]
		}
	}
	return strings.Join(parts, "/")
}

// notOurs returns a name that the loader does not take for the tables or the card.
func notOurs(name string) string {
	for _, own := range []string{"metadata.csv", metadataFile, "metadata.parquet", cardFile} {
		if strings.EqualFold(name, own) {
			return fmt.Sprintf("%%%02X%s", name[0], name[1:])
		}
	}
	return name
}

// imageAt inverts placeOf, with or without the folder of a part above, if the photo exists.
func imageAt(root string) func(place string) (string, bool) {
	return func(place string) (string, bool) {
		parts := strings.Split(filepath.ToSlash(place), "/")
		for _, above := range []int{1, 2, 0} {
			if above >= len(parts) {
				continue
			}
			if image, ok := organise.Original(root, strings.Join(parts[above:], "/")); ok {
				return image, true
			}
		}
		return "", false
	}
}

// Put implements label.Sink.
func (f *imageFolder) Put(row label.Scored) error {
	names, class := row.Names(), row.Prediction.Label
	if len(names) == 0 {
		return nil
	}
	folder := notOurs(organise.FolderName(class))
	if row.SetAside() {
		folder = severalFolder
	}
	table := f.tables[row.Split]
	if table == nil {
		return fmt.Errorf("no part %q", row.Split)
	}
	place, err := f.place(row, folder)
	if err != nil {
		return err
	}
	f.photos[row.Split]++
	out := photoRow{File: place, Label: class, Labels: names, Probability: float(row.Prediction.Probability),
		New: optional(row.New), By: row.By}
	if b := row.Sample.Box; b != nil {
		out.Of, out.Box = photo(row), b.String()
	}
	line, err := jsonOf(out)
	if err == nil {
		_, err = table.Write(append(line, '\n'))
	}
	return err
}

// place puts a photo, or what the backbone sees of a box, into a folder of a class, and
// returns where below the folder of its part.
func (f *imageFolder) place(row label.Scored, folder string) (place string, err error) {
	name := row.Sample.File()
	place = filepath.Join(row.Split, filepath.FromSlash(placeOf(f.root, folder, name)))
	if b := row.Sample.Box; b == nil {
		place, err = f.Add(place, name)
	} else {
		picture, failed := f.crop(dataset.FullPath(f.root, name), b)
		if failed != nil {
			return "", &label.ItemError{Err: failed}
		}
		place, err = f.Write(organise.CropName(place, b.Number), name, picture)
	}
	return strings.TrimPrefix(filepath.ToSlash(place), row.Split+"/"), err
}

// cropOf inverts place for boxes.
func cropOf(root string) func(place string) (string, bool) {
	at := imageAt(root)
	return func(place string) (string, bool) {
		photo, ok := organise.CropOf(place)
		if !ok {
			return "", false
		}
		return at(photo)
	}
}

// Commit implements label.Sink.
func (f *imageFolder) Commit(o embedding.Outcome) error {
	for _, table := range f.tables {
		if err := table.close(); err != nil {
			return err
		}
	}
	if err := writeFile(filepath.Join(f.Path(), cardFile), []byte(f.card())); err != nil {
		return err
	}
	return f.Tree.Commit(o)
}

// Abort implements label.Sink.
func (f *imageFolder) Abort() {
	for _, table := range f.tables {
		_ = table.f.Close() // perhaps again
	}
	f.Tree.Abort()
}

// card says in YAML which files are which part.
func (f *imageFolder) card() string {
	var b strings.Builder
	b.WriteString("---\nconfigs:\n- config_name: default\n  data_files:\n")
	for _, split := range f.splits {
		if f.photos[split] == 0 {
			continue // the loader refuses an empty part
		}
		name, files := "train", "**"
		if split != "" {
			name, files = split, split+"/**"
		}
		fmt.Fprintf(&b, "  - split: %s\n    path: %q\n", name, files)
	}
	b.WriteString("---\n\nPhotos, or boxes of them, by class. metadata.jsonl has the label of each, and who gave it.\n")
	return b.String()
}

// Files implements label.Lister.
func (f *imageFolder) Files() []string {
	var names []string
	for _, split := range f.splits {
		names = append(names, path.Join(split, metadataFile))
	}
	return below(folderName, append(names, cardFile))
}
