package demo

import (
	"fmt"
	"math/rand/v2"
)

// How many pictures there are of each class.
const (
	basePerClass     = 20
	shotsPerNewClass = 5
	testPerClass     = 8
	photosPerClass   = 4
	photosPerUnknown = 6
)

// job is one file to make.
type job struct {
	path   string // relative to the collection, with forward slashes
	name   string // seeds the randomness of the picture
	class  class
	broken bool   // cut the file short
	text   string // not a picture at all
}

// plan lists every file of the collection and describes it.
func plan(dir string, seed uint64) (Set, []job) {
	base, shots := folders("base", baseClasses(), basePerClass), folders("new", newClasses(), shotsPerNewClass)
	tests := folders("test", append(knownClasses(), unknownClasses()...), testPerClass)
	photos, truth := unlabelled(seed)
	set := Set{
		Dir: dir, Seed: seed,
		Base: names(baseClasses()), New: names(newClasses()), Unknown: names(unknownClasses()),
		BaseImages: len(base), NewImages: len(shots), TestImages: len(tests), Photos: truth,
	}
	jobs := append(append(append(base, shots...), tests...), photos...)
	return set, append(jobs, oddities()...)
}

// folders plans n pictures of each class in folders named by class.
func folders(top string, classes []class, n int) []job {
	var jobs []job
	for _, c := range classes {
		for i := range n {
			name := join(top, c.name, jpegName(i))
			jobs = append(jobs, job{path: name, name: name, class: c})
		}
	}
	return jobs
}

// unlabelled plans the photos: all classes shuffled under names that say
// nothing.
func unlabelled(seed uint64) ([]job, []Photo) {
	jobs := append(folders("photos", knownClasses(), photosPerClass), folders("photos", unknownClasses(), photosPerUnknown)...)
	rng := rand.New(rand.NewPCG(seed, 0x5eed))
	rng.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	truth := make([]Photo, len(jobs))
	for i := range jobs {
		file := fmt.Sprintf("IMG_%04d.jpg", i+1)
		jobs[i].path = join("photos", file)
		truth[i] = Photo{Path: file, Class: jobs[i].class.name}
	}
	return jobs, truth
}

// oddities are the files that a real folder has too: a picture cut short and
// something that is no picture.
func oddities() []job {
	return []job{
		{path: "photos/IMG_9998.jpg", name: "photos/broken", class: baseClasses()[0], broken: true},
		{path: "photos/notes.txt", text: "This file is not a picture: labelling skips and counts it.\n"},
	}
}
