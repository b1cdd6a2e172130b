package dataset

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// spelled returns the one form (NFC) of a class name that Unicode can write in several.
// macOS stores names in another form than other systems.
func spelled(name string) string {
	if !utf8.ValidString(name) {
		return name
	}
	return norm.NFC.String(name)
}

// Spelling returns a function that writes a label as one of the given classes is written,
// if only the Unicode form differs.
func Spelling(classes []string) func(label string) string {
	other := map[string]string{}
	for _, class := range classes {
		if form := spelled(class); form != class {
			other[form] = class
		}
	}
	for _, class := range classes {
		delete(other, class) // both forms are classes
	}
	return func(label string) string {
		if class, ok := other[spelled(label)]; ok {
			return class
		}
		return label
	}
}

// A folderIndex finds the entries of folders in another Unicode form.
type folderIndex map[string]map[string]string // by folder and form

// find returns the path below root that is the same text as rel, "" if there is none.
func (x folderIndex) find(root, rel string) string {
	found := ""
	for part := range strings.SplitSeq(path.Clean(rel), "/") {
		dir := filepath.Join(root, filepath.FromSlash(found))
		if x[dir] == nil {
			x[dir] = map[string]string{}
			entries, _ := os.ReadDir(dir) // what cannot be read has no such entry
			for _, e := range entries {
				x[dir][spelled(e.Name())] = e.Name()
			}
		}
		name, ok := x[dir][spelled(part)]
		if !ok {
			return ""
		}
		found = path.Join(found, name)
	}
	return found
}

// isASCII reports whether a text has only one form.
func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
