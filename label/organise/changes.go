package organise

import (
	"encoding/csv"
	"errors"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/label"
)

// ChangesFile lists what class folders have elsewhere than the photos did.
const ChangesFile = "changes.csv"

// Changes is the list of photos that are in another folder of a tree than among the photos: their path, the class
// that their folder named, the folder in which they are, who decided, and the photo that is kept of a copy.
type Changes struct {
	file    *atomicfile.File
	w       *csv.Writer
	kept    map[[32]byte]bool
	paths   map[[32]byte]string // of those kept
	waiting []label.Scored      // copies, of which the other may come later
}

// NewChanges begins the list in a folder. kept has the contents of the photos that are kept of copies. Defer Abort,
// which does nothing after Commit.
func NewChanges(dir string, kept map[[32]byte]bool) (*Changes, error) {
	file, err := atomicfile.Create(filepath.Join(dir, ChangesFile))
	if err != nil {
		return nil, err
	}
	c := &Changes{file: file, w: csv.NewWriter(file), kept: kept, paths: map[[32]byte]string{}}
	if err := c.w.Write([]string{"path", "was", "now", "by", "copy_of"}); err != nil {
		file.Abort()
		return nil, err
	}
	return c, nil
}

// Put implements label.Sink.
func (c *Changes) Put(row label.Scored) error {
	if c.kept[row.Content] && c.paths[row.Content] == "" {
		c.paths[row.Content] = row.Sample.Path
	}
	if row.CopyOf != [32]byte{} {
		c.waiting = append(c.waiting, row)
		return nil
	}
	return c.write(row)
}

func (c *Changes) write(row label.Scored) error {
	was, now := row.Sample.Label, classFolder(row)
	if now == FolderName(was) {
		return nil
	}
	of := c.paths[row.CopyOf]
	return c.w.Write([]string{dataset.SafeCell(dataset.EscapePath(row.Sample.Path)),
		dataset.SafeCell(dataset.EscapePath(was)), dataset.SafeCell(now), string(row.By),
		dataset.SafeCell(dataset.EscapePath(of))})
}

// Commit implements label.Sink.
func (c *Changes) Commit(embedding.Outcome) error {
	for _, row := range c.waiting {
		if err := c.write(row); err != nil {
			return err
		}
	}
	c.w.Flush()
	return errors.Join(c.w.Error(), c.file.Commit())
}

// Abort implements label.Sink.
func (c *Changes) Abort() { c.file.Abort() }

// classFolder returns the folder of a labelled image.
func classFolder(row label.Scored) string {
	switch {
	case row.Rejected:
		return unknownFolder
	case row.CopyOf != [32]byte{}:
		return copiesFolder
	case row.SetAside():
		return asideFolder
	}
	return FolderName(row.Prediction.Label)
}
