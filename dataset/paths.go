package dataset

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// relativeTo returns the path of a listed file below root, with slashes, or its absolute path
// if it is elsewhere.
func relativeTo(root, listed string) (string, error) {
	if !filepath.IsAbs(listed) {
		rel := path.Clean(filepath.ToSlash(listed))
		if rel == ".." || strings.HasPrefix(rel, "../") {
			return "", fmt.Errorf("%s leads out of the image folder; give an absolute path if that is intended", listed)
		}
		return rel, nil
	}
	rel, err := filepath.Rel(root, listed)
	if err != nil || rel == ".." || strings.HasPrefix(filepath.ToSlash(rel), "../") {
		return filepath.ToSlash(filepath.Clean(listed)), nil
	}
	return filepath.ToSlash(rel), nil
}

// FullPath returns the path of a Sample's file: Sample.Path may be absolute
// when it comes from a list.
func FullPath(root, samplePath string) string {
	local := filepath.FromSlash(samplePath)
	if filepath.IsAbs(local) {
		return local
	}
	return filepath.Join(root, local)
}
