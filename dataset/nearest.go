package dataset

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/internal/suggest"
)

// noneExists returns the error of a list of which no path exists.
func (r *listReader) noneExists(list string) error {
	text := fmt.Sprintf("none of its %d paths exists", r.missing)
	if r.missing == 1 {
		text = "its only path does not exist"
	}
	text += fmt.Sprintf("; the first is looked for at %s", shown(FullPath(r.root, r.first)))
	switch file, folder := nearestFile(r.root, r.first); {
	case folder != "":
		return phrase.New("read list %s: %s, but it is %s: give {images} %s", list, text, file, folder)
	case file != "":
		return phrase.New("read list %s: %s; the nearest file is %s. Check {images}, {path-column} and {path-suffix}",
			list, text, file)
	default:
		return phrase.New("read list %s: %s; there are no images in %s: check {images}", list, text, r.root)
	}
}

// mostLooked bounds the files among which nearestFile looks for a similar name.
const mostLooked = 10_000

// nearestFile looks for the file that a path, which does not exist under root,
// may mean. folder is the root under which the path exists; "" if there is none.
func nearestFile(root, rel string) (file, folder string) {
	isFile := func(file string) bool {
		info, err := os.Stat(file)
		return err == nil && info.Mode().IsRegular()
	}
	rel = strings.TrimPrefix(rel, "/")
	for up := filepath.Dir(root); ; up = filepath.Dir(up) {
		if file := filepath.Join(up, rel); isFile(file) {
			return file, up
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	for rest, more := rel, true; more; _, rest, more = strings.Cut(rest, "/") {
		if file := filepath.Join(root, rest); isFile(file) {
			return file, ""
		}
	}
	return similarFile(root, rel)
}

// foldersBeside returns the names of folders beside a path, of the first ones that are looked at.
func foldersBeside(path string) (names []string) {
	entries, _ := os.ReadDir(filepath.Dir(path)) // what there is helps, even if the rest cannot be read
	for _, e := range entries[:min(len(entries), mostLooked)] {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// similarFile returns the file under root with the most similar name, else the
// first one.
func similarFile(root, rel string) (file, folder string) {
	byName, several := map[string]string{}, map[string]bool{}
	var names []string
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || e.IsDir() && file != root && hiddenName(e.Name()):
			return fs.SkipDir
		case !e.Type().IsRegular() || kindByName(e.Name()) != kindImage:
			return nil
		case len(names) == mostLooked:
			return fs.SkipAll
		}
		if byName[e.Name()] == "" {
			byName[e.Name()], names = file, append(names, e.Name())
		} else {
			several[e.Name()] = true
		}
		return nil
	})
	if err != nil || len(names) == 0 {
		return "", ""
	}
	file = byName[suggest.Nearest(path.Base(rel), names)]
	if file == "" {
		return byName[names[0]], ""
	}
	// The same path under a folder of root, unless the name may be that of a photo in another.
	if several[filepath.Base(file)] && !strings.Contains(rel, "/") {
		return file, ""
	}
	if up, ok := strings.CutSuffix(file, string(filepath.Separator)+filepath.FromSlash(rel)); ok {
		return file, up
	}
	return file, ""
}
