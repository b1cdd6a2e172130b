package dataset

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ClassFrom is the rule by which the folders of an image name its class.
type ClassFrom string

// The rules, and the class of Fruit/Apple/Gala/1.jpg by each, under the root Photos.
// An image that lies directly under the root has no class, except by ClassFromRoot.
const (
	ClassFromTop  ClassFrom = "top"  // Fruit
	ClassFromLeaf ClassFrom = "leaf" // Gala
	ClassFromPath ClassFrom = "path" // Fruit/Apple/Gala
	ClassFromRoot ClassFrom = "root" // Photos
)

// ClassRules lists them.
func ClassRules() []string {
	return []string{string(ClassFromTop), string(ClassFromLeaf), string(ClassFromPath), string(ClassFromRoot)}
}

// Validate rejects unknown rules and lists the valid ones; "" is the default of
// whoever applies the rule.
func (c ClassFrom) Validate() error {
	all := ClassRules()
	if c != "" && !slices.Contains(all, string(c)) {
		return fmt.Errorf("class_from: %q is not one of %s", string(c), strings.Join(all, ", "))
	}
	return nil
}

// class returns the class of a Sample.Path under a root with the given name, in the one
// form that Unicode-equivalent names have. A path
// outside the root, which only a list can have, has no folders that count from the
// root: only ClassFromLeaf and ClassFromRoot give it a class.
func (c ClassFrom) class(root, rel string) string { return spelled(c.folder(root, rel)) }

func (c ClassFrom) folder(root, rel string) string {
	dir := path.Dir(rel)
	switch {
	case c == ClassFromRoot:
		return root
	case dir == "." || dir == "/":
		return ""
	case c == ClassFromLeaf:
		return path.Base(dir)
	case path.IsAbs(dir):
		return ""
	case c == ClassFromPath:
		return dir
	}
	top, _, _ := strings.Cut(dir, "/")
	return top
}

// folderName returns the name of a folder, which may be given as "." or "..", or "" if
// it has none.
func folderName(dir string) string {
	whole, err := filepath.Abs(dir)
	if err != nil || whole == filepath.Dir(whole) {
		return ""
	}
	return filepath.Base(whole)
}

// A Merged is a class whose images come from several folders.
type Merged struct {
	Class string
	// Folders are two of them.
	Folders [2]string
}

// classFolders holds up to two folders of every class.
type classFolders map[string][]string

func (f classFolders) add(s Sample) {
	dir := path.Dir(s.Path)
	if known := f[s.Label]; s.Label != "" && len(known) < 2 && !slices.Contains(known, dir) {
		f[s.Label] = append(known, dir)
	}
}

// merged returns the classes with several folders, by name.
func (f classFolders) merged() (merged []Merged) {
	for _, class := range slices.Sorted(maps.Keys(f)) {
		if dirs := f[class]; len(dirs) == 2 {
			merged = append(merged, Merged{class, [2]string{dirs[0], dirs[1]}})
		}
	}
	return merged
}
