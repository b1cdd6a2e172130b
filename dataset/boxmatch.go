package dataset

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// match gives photos that the file does not list what it says of them under the paths of another
// machine, /mnt/traps/st1/a.jpg or D:\traps\st1\a.jpg for st1/a.jpg, or in other letters, and returns what
// the file has before these paths. It is one folder, that of most photos: a name alone does not make the
// photo of one folder that of another. Where the file fits already, it is no relative one.
func (b *Boxes) match(unlisted []string) (before string) {
	fits := false
	for _, p := range b.photos {
		fits = fits || p.seen
	}
	photos := photosOf(unlisted)
	places, counts := map[string]map[string]string{}, map[string]int{}
	for _, name := range b.absentNames() {
		places[name] = photos.places(name)
		for folder := range places[name] {
			if !fits || absolute(folder) || folder == sameFolder {
				counts[folder]++
			}
		}
	}
	most := 0
	for _, folder := range slices.Sorted(maps.Keys(counts)) {
		switch n := counts[folder]; {
		case n > most:
			most, before = n, folder
		case n == most && !strings.HasPrefix(folder, before):
			before = "" // unless another has more
		}
	}
	if before == "" {
		return ""
	}
	for name, at := range places {
		if photo := at[before]; photo != "" {
			b.put(spelled(photo), b.photos[name])
		}
	}
	return before
}

// absolute reports whether a folder is one as Linux, macOS or Windows write it.
func absolute(folder string) bool {
	return folder[0] == '/' || len(folder) > 1 && folder[1] == ':'
}

// sameFolder stands before names that differ from photos in their letters only.
const sameFolder = "./"

// photoPaths are paths of photos by their spelling, and by it in small letters.
type photoPaths struct{ exact, lower map[string]string }

func photosOf(paths []string) photoPaths {
	p := photoPaths{make(map[string]string, len(paths)), make(map[string]string, len(paths))}
	for _, photo := range paths {
		key := spelled(photo)
		p.exact[key] = photo
		if folded := strings.ToLower(key); p.lower[folded] == "" {
			p.lower[folded] = photo
		} else {
			p.lower[folded] = ambiguous
		}
	}
	return p
}

// ambiguous stands for photos whose paths differ in their letters only.
const ambiguous = "\x00"

// places returns the photos that a name of the file may mean, by what is before their paths.
func (p photoPaths) places(name string) map[string]string {
	name = plainAddress(name)
	places := map[string]string{}
	for _, tail := range tails(name) {
		photo := cmp.Or(p.exact[tail], p.lower[strings.ToLower(tail)])
		if photo != "" && photo != ambiguous {
			places[cmp.Or(strings.TrimSuffix(name, tail), sameFolder)] = photo
		}
	}
	return places
}

// plainAddress returns the path in a name as other systems and Label Studio write it.
func plainAddress(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	if _, local, found := strings.Cut(name, "?d="); found {
		if path, err := url.QueryUnescape(local); err == nil {
			return path
		}
	}
	return name
}

// absentNames returns the names in the file that are of no photo, each file once.
func (b *Boxes) absentNames() []string {
	names := map[*boxedPhoto]string{}
	for name, p := range b.photos {
		if !p.seen && (names[p] == "" || name < names[p]) {
			names[p] = name
		}
	}
	return slices.Sorted(maps.Values(names))
}
