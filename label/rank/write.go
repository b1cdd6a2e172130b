package rank

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// Write writes entries as CSV: path, label, probability, given, score, novel,
// group (empty for none). The file can serve as a list of images: correct its
// label column and let the model learn it.
func Write(w io.Writer, entries []Entry) error {
	out := csv.NewWriter(w)
	err := out.Write([]string{"path", "label", "probability", "given", "score", "novel", "group"})
	for _, e := range entries {
		group := ""
		if e.Group > 0 {
			group = strconv.Itoa(e.Group)
		}
		if err != nil {
			return err
		}
		err = out.Write([]string{
			dataset.SafeCell(dataset.EscapePath(e.Path)), dataset.SafeCell(e.Label), digits(e.Probability),
			dataset.SafeCell(e.Given), digits(e.Score), strconv.FormatBool(e.Novel), group,
		})
	}
	out.Flush()
	return out.Error()
}

func digits(v float64) string { return strconv.FormatFloat(v, 'g', 7, 64) }

// LinkGroups creates dir with one folder per group (group-001, group-002, …) of
// links to its images below root: all or none.
func LinkGroups(groups [][]string, root, dir string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	d, err := atomicfile.CreateDir(dir)
	if err != nil {
		return err
	}
	defer d.Abort()
	for g, paths := range groups {
		group := filepath.Join(d.Path(), fmt.Sprintf("group-%03d", g+1))
		if err := os.Mkdir(group, 0o755); err != nil {
			return err
		}
		for i, path := range paths {
			// Numbered, so that equal names from different folders do not
			// collide.
			name := fmt.Sprintf("%04d-%s", i+1, filepath.Base(filepath.FromSlash(path)))
			if err := os.Symlink(dataset.FullPath(root, path), filepath.Join(group, name)); err != nil {
				return err
			}
		}
	}
	return d.Commit()
}
