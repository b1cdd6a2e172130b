package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Errors of Scan and ReadList that concern the whole input; a single bad entry
// is a Problem instead.
var (
	// ErrNoRoot means that the image folder does not exist.
	ErrNoRoot = errors.New("no such folder")
	// ErrNotFolder means that the image folder is not a folder.
	ErrNotFolder = errors.New("not a folder")
	// ErrNoImages means that the folder or list has no images.
	ErrNoImages = errors.New("no images")
)

// A Listing is what was found under a root.
type Listing struct {
	Root string
	// Samples are sorted by the bytes of Path.
	Samples []Sample
	// Problems are entries that cannot be used: broken links, unreadable
	// folders, missing list entries.
	Problems []Problem
	// Skipped counts, by kind, the entries that are not images: "archive",
	// "audio", "backup", "dropped", "filtered", "hidden", "link", "linked twice",
	// "other", "raw", "repeated", "sidecar", "special", "system", "unfinished",
	// "video".
	Skipped map[string]int
	// LeftOut describes some of them.
	LeftOut LeftOut
	// Merged are the classes that a scan read from several folders, by name.
	Merged []Merged
	// Predicted counts the labels of a list that were ignored because the program gave them
	// (ListOptions.Decided).
	Predicted int
	// Guessed says, for the user, what ReadList guessed about a table; "" when
	// it did not have to.
	Guessed string
}

// A Problem is one entry that could not be used.
type Problem struct {
	Path string
	Err  error
}

func newListing(root string) Listing {
	return Listing{Root: root, Skipped: map[string]int{}}
}

func (l *Listing) problem(path string, err error) {
	l.Problems = append(l.Problems, Problem{Path: path, Err: err})
}

func (l *Listing) sort() {
	slices.SortFunc(l.Samples, func(a, b Sample) int { return strings.Compare(a.Path, b.Path) })
	slices.SortStableFunc(l.Problems, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
}

// besides says what there is that is not an image, as in " (skipped: 2 hidden, 3
// video; unusable: 1, the first: read folder a: permission denied)", or "" for an empty folder.
func (l *Listing) besides() string {
	var skipped, parts []string
	for kind, n := range l.Skipped {
		skipped = append(skipped, fmt.Sprintf("%d %s", n, kind))
	}
	if len(skipped) > 0 {
		slices.Sort(skipped)
		parts = append(parts, "skipped: "+strings.Join(skipped, ", "))
	}
	if n := len(l.Problems); n > 0 {
		parts = append(parts, fmt.Sprintf("unusable: %d, the first: %v", n, l.Problems[0].Err))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}
