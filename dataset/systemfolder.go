package dataset

import "strings"

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
		"temporary items", "lost+found", "found.000", "system volume information":
		return true
	case "@eadir", "@tmp", "@transcode", "@__thumb", "@synoresource", "thumbnails", "_thumbnails", "thumbs", "_thumbs",
		"_thumb", "ipod photo cache", "[originals]":
		return true
	case "_svn", "_darcs", "__macosx", "__pycache__", "node_modules":
		return true
	}
	return strings.HasSuffix(lower, ".lrdata") || strings.HasSuffix(lower, ".lrcat-data") || conflictCopy(lower)
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
