package dataset

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// LeftOut is what a scan found besides photos, for a sentence to the user.
type LeftOut struct {
	// Suffixes counts the files that are not photos, by lower-case suffix ("" has none).
	Suffixes map[string]int
	// Raw counts those of them that are a camera's raw photos, with a JPEG or HEIC of the same name.
	Raw int
	// System are folders that systems and tools leave, which are not entered.
	System Folders
	// Results are folders in which label has put copies of photos, or links to them.
	Results Folders
	// Empty are first-level folders in which there is no photo.
	Empty Folders
}

// mostSuffixes bounds the suffixes that are counted by themselves: name.1, name.2, …
// have as many as files.
const mostSuffixes = 256

// otherSuffix counts those beyond.
const otherSuffix = "other"

func (l *LeftOut) file(rel, kind string) {
	switch kind {
	case "hidden", "system":
		return
	case kindRaw:
		l.Raw++
	}
	suffix := strings.ToLower(filepath.Ext(rel))
	if l.Suffixes == nil {
		l.Suffixes = map[string]int{}
	}
	if _, known := l.Suffixes[suffix]; !known && len(l.Suffixes) >= mostSuffixes {
		suffix = otherSuffix
	}
	l.Suffixes[suffix]++
}

// clone returns a copy that a second pass does not change.
func (l *LeftOut) clone() LeftOut {
	c := *l
	c.Suffixes = maps.Clone(l.Suffixes)
	return c
}

// Files returns the number of files that are not photos.
func (l *LeftOut) Files() (n int) {
	for _, of := range l.Suffixes {
		n += of
	}
	return n
}

// shownSuffixes is the number of suffixes that are named.
const shownSuffixes = 6

// BySuffix says how many files there are of the most frequent suffixes: "8 .mov, 1
// without suffix".
func (l *LeftOut) BySuffix() string {
	suffixes := slices.SortedFunc(maps.Keys(l.Suffixes), func(a, b string) int {
		return cmp.Or(cmp.Compare(l.Suffixes[b], l.Suffixes[a]), strings.Compare(a, b))
	})
	var parts []string
	for i, suffix := range suffixes {
		if i == shownSuffixes {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, fmt.Sprintf("%d %s", l.Suffixes[suffix], cmp.Or(suffix, "without suffix")))
	}
	return strings.Join(parts, ", ")
}

// Folders are some folders or files, of which the first few are named.
type Folders struct {
	N     int
	First []string
}

// shownFolders is the number of folders that are named.
const shownFolders = 3

func (f *Folders) add(rel string) {
	if f.N++; len(f.First) < shownFolders {
		f.First = append(f.First, EscapePath(rel))
	}
}

// Names lists the first folders: "notes, old, …".
func (f *Folders) Names() string {
	names := strings.Join(f.First, ", ")
	if f.N > len(f.First) {
		names += ", …"
	}
	return names
}
