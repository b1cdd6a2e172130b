package demo

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// How many pictures there are of each class.
const (
	basePerClass     = 30
	shotsPerNewClass = 5
	photosPerClass   = 8
	photosPerUnknown = 10
)

// file is one file of the collection: a picture of a class, or a text.
type file struct {
	path   string // relative to the collection, with forward slashes
	class  class
	broken bool // truncate the picture
	text   string
}

// bytes returns the content of a file.
func (f file) bytes(seed uint64) ([]byte, error) {
	if f.text != "" {
		return []byte(f.text), nil
	}
	data, err := f.class.render(seed, f.path)
	if err == nil && f.broken {
		data = data[:len(data)/3]
	}
	return data, err
}

// plan lists every file of the collection, and what the photos show.
func plan(seed uint64) ([]file, []Photo) {
	var files []file
	for _, c := range baseClasses {
		for i := range basePerClass {
			files = append(files, file{path: fmt.Sprintf("base/%s/%02d.jpg", c.name, i+1), class: c})
		}
	}
	for _, c := range newClasses {
		for i := range shotsPerNewClass {
			files = append(files, file{path: fmt.Sprintf("new/%s/%02d.jpg", c.name, i+1), class: c})
		}
	}
	known := slices.Repeat(slices.Concat(baseClasses, newClasses), photosPerClass)
	all := slices.Concat(known, slices.Repeat(unknownClasses, photosPerUnknown))
	var shown []Photo
	truth := "path,label\n"
	for i, k := range rand.New(rand.NewPCG(seed, 0x5eed)).Perm(len(all)) {
		photo := Photo{Path: fmt.Sprintf("IMG_%04d.jpg", i+1), Class: all[k].name, Known: k < len(known)}
		files = append(files, file{path: "photos/" + photo.Path, class: all[k]})
		shown = append(shown, photo)
		truth += photo.Path + "," + photo.Class + "\n"
	}
	return append(files,
		file{path: "truth.csv", text: truth},
		file{path: "photos/IMG_9998.jpg", class: baseClasses[0], broken: true},
		file{path: "photos/notes.txt", text: "This file is not a picture: labelling skips and counts it.\n"}), shown
}
