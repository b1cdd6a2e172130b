package dataset

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/internal/quota"
)

// A list may repeat one path or name in as many rows as it has bytes, so each is bounded when
// it is read.
const (
	// maxPathBytes bounds a path or the address of a photo: systems allow 4096 bytes, and
	// escapes take three for one.
	maxPathBytes = 8 << 10
	// maxNameBytes bounds the name of a class.
	maxNameBytes = 1 << 10
	// maxCellBytes bounds any other cell, such as one of several classes.
	maxCellBytes = 1 << 16
)

// leastMade and madePerByte bound the text of the rows that are made from parts of a file,
// each of which can be in many rows. Usual files make less text than they have.
const leastMade, madePerByte = 8 << 20, 16

// checkPath refuses what is no path.
func checkPath(path string) error { return checkLength("path", path, maxPathBytes) }

func checkLength(what, text string, most int) error {
	if len(text) <= most {
		return nil
	}
	return fmt.Errorf("its %s has more than %d bytes: %q", what, most, shown(text))
}

// cut shortens a text that one of the checks refuses, which still does.
func cut(text string, most int) string { return text[:min(len(text), most+1)] }

// shown shortens a text for a message, of which a list may cause very many.
func shown(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}

// made returns records whose rows each makes from parts of a file of a size. They are numbered
// from 1.
func made(header []string, size int64, each func(add func(cells ...string) (more bool))) records {
	return records{header: header, unit: "record", each: func(_ []int, use func(int, []string) bool) (err error) {
		text, number := quota.New(max(leastMade, madePerByte*size)), 0
		each(func(cells ...string) bool {
			number++
			for _, cell := range cells {
				if err = text.Take(int64(len(cell))); err != nil {
					err = fmt.Errorf("record %d: the file repeats a long path or name too often: %w", number, err)
					return false
				}
			}
			return use(number, cells)
		})
		return err
	}}
}
