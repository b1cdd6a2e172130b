package dataset

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// RunSummary is the file that a run of label writes last into the folder of its results.
const RunSummary = "summary.json"

// resultFolders are the folders of results that hold pictures, whether the last run wrote them or one
// before.
var resultFolders = []string{"by-class", "imagefolder"}

// maxSummaryBytes is more than any summary.
const maxSummaryBytes = 1 << 24

// withoutResults removes from the entries of a folder what runs of label have written there: copies of
// photos, links to them, and figures, which are no photos of the archive. The photos beside them stay.
func (s *scanner) withoutResults(rel string, entries []fs.DirEntry) []fs.DirEntry {
	isSummary := func(e fs.DirEntry) bool { return e.Name() == RunSummary && e.Type().IsRegular() }
	if !slices.ContainsFunc(entries, isSummary) {
		return entries
	}
	written := resultsOf(s.full(rel))
	if written == nil {
		return entries
	}
	s.inFolder(rel + "/") // it is not a class that lacks photos
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		if !written[e.Name()] {
			return false
		}
		if e.IsDir() {
			s.listing.LeftOut.Results.add(filepath.ToSlash(filepath.Join(rel, e.Name())))
		}
		return true
	})
}

// resultsOf returns the names in a folder that runs of label have written, nil if its summary is not
// one of theirs.
func resultsOf(dir string) map[string]bool {
	text, err := regularfile.Read(filepath.Join(dir, RunSummary), maxSummaryBytes)
	if err != nil {
		return nil
	}
	var summary struct {
		Labelled *int
		Files    []string
		Settings map[string]any
		Hashes   map[string]string
	}
	if json.Unmarshal(text, &summary) != nil || summary.Labelled == nil || summary.Settings == nil ||
		summary.Hashes == nil {
		return nil
	}
	written := map[string]bool{}
	for _, name := range slices.Concat(resultFolders, summary.Files) {
		first, _, _ := strings.Cut(name, "/")
		written[first] = true
	}
	return written
}
