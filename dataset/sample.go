package dataset

import "strings"

// A Sample is one image, one box of an image or one row of a feature file, with what is
// known about it.
type Sample struct {
	// Path is relative to the root it was found under, with forward slashes. That of a
	// box is "photo.jpg#1".
	Path string
	// Label is the class name, "" when unknown.
	Label string
	// Several are the things that a photo shows, of which none is its Label, as JoinLabels
	// writes them; "" for none.
	Several string
	// SetAside reports that a list says that a person found the photo to be of no class.
	SetAside bool
	// Split and Session are the optional columns of a feature folder's
	// samples.csv.
	Split, Session string
	// Taken is when a list says that the photo was taken, as it is written there.
	Taken string
	// Box is nil for a whole image.
	Box *Box
}

// Part returns the part of a benchmark that the sample is in, in lower case: Split, or where that
// is empty the first folder of PART/CLASS/IMAGE; "" for none.
func (s Sample) Part() string {
	part := s.Split
	if folders := strings.Split(s.Path, "/"); part == "" && len(folders) >= 3 {
		part = folders[0]
	}
	return strings.ToLower(part)
}
