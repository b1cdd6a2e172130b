package dataset

import (
	"path/filepath"
	"slices"
	"strings"
)

// systemFolder reports whether a folder is one that a system or a tool leaves among
// photos: a recycle bin, a cache of thumbnails, version control, a copy after a
// conflict of synchronised folders. Its photos are deleted, small or repeated.
func systemFolder(name string) bool {
	switch name { // in other cases these could be classes
	case "RECYCLER", "RECYCLED", "CVS", "SCCS", "CaptureOne", "NKSC_PARAM":
		return true
	}
	lower := strings.ToLower(strings.TrimSpace(name))
	switch lower {
	case "$recycle.bin", "#recycle", "@recycle", "@recently-snapshot", "#snapshot", "network trash folder",
		"~snapshot", "recycle bin", "temporary items", "lost+found", "system volume information", "_gsdata_":
		return true
	case "@eadir", "@tmp", "@transcode", "@__thumb", "@synoresource", "@synofinder-log", "@sharebin",
		"thumbnails", "_thumbnails", "thumbs", "_thumbs", "_thumb", "ipod photo cache", "[originals]":
		return true
	case "_svn", "_darcs", "__macosx", "__pycache__", "node_modules":
		return true
	}
	return isLibrary(filepath.Ext(lower)) || foundByCheck(lower) || conflictCopy(lower)
}

// isLibrary reports whether folders with a suffix belong to a photo library (of Apple's
// Photos and iPhoto, Aperture, Lightroom), which has each photo in several sizes.
func isLibrary(suffix string) bool {
	return slices.Contains([]string{".photoslibrary", ".photolibrary", ".migratedphotolibrary", ".aplibrary",
		".lrdata", ".lrcat-data", ".lrlibrary"}, suffix)
}

// foundByCheck recognises the folders into which a check of a disk puts what it finds.
func foundByCheck(lower string) bool {
	number, found := strings.CutPrefix(lower, "found.")
	return found && len(number) == 3 && strings.Trim(number, "0123456789") == ""
}

// conflictCopy recognises how Dropbox, Syncthing, Nextcloud, Seafile and pCloud name
// what was changed in two places.
func conflictCopy(lower string) bool {
	for _, mark := range []string{
		"conflicted copy", "case conflict", ".sync-conflict-", "(sfconflict ", "[conflicted]",
	} {
		if strings.Contains(lower, mark) {
			return true
		}
	}
	_, after, found := strings.Cut(lower, "_conflict-")
	return found && after != "" && after[0] >= '0' && after[0] <= '9'
}
