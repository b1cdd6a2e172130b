package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// A Box is a part of a photo that a detector or a person drew a rectangle around.
type Box struct {
	// Number counts the boxes of a photo from 1, as the file lists them.
	Number int
	// X and Y are the left and the upper edge, W and H the width and the height, as shares
	// of the upright photo's.
	X, Y, W, H float64
	// Category is what it is said to show, and Confidence how sure of it a detector is, 1 for
	// a person.
	Category   string
	Confidence float64
	// Kept reports that Category is the label, such as a detector's "person": there is
	// nothing to classify.
	Kept bool
}

// String returns "x,y,w,h", with seven significant digits each.
func (b *Box) String() string {
	var parts [4]string
	for i, v := range [4]float64{b.X, b.Y, b.W, b.H} {
		parts[i] = strconv.FormatFloat(v, 'g', 7, 64)
	}
	return strings.Join(parts[:], ",")
}

// boxMark is between the path of a photo and the number of a box.
const boxMark = "#"

// In returns the sample of a box of the photo s.
func (b *Box) In(s Sample) Sample {
	s.Path += boxMark + strconv.Itoa(b.Number)
	s.Box = b
	return s
}

// cutBox cuts the path of a box into that of its photo and its number, which is 0 for any
// other path.
func cutBox(name string) (photo string, number int) {
	at := strings.LastIndex(name, boxMark)
	if at < 0 {
		return name, 0
	}
	n, err := strconv.Atoi(name[at+1:])
	if err != nil || n < 1 || strconv.Itoa(n) != name[at+1:] {
		return name, 0
	}
	return name[:at], n
}

// File returns the path of the photo: Path without the number of the box.
func (s Sample) File() string {
	if s.Box == nil {
		return s.Path
	}
	return strings.TrimSuffix(s.Path, boxMark+strconv.Itoa(s.Box.Number))
}

// photo is find, also for a box of a photo if boxes are accepted.
func (r *listReader) photo(cell, suffix string, literal bool) (string, error) {
	if err := checkPath(cell); err != nil {
		return "", err
	}
	photo, number := cutBox(cell)
	if number > 0 && hosted(photo) != nil { // in an address, what follows would be no part of the path
		if !r.opts.Boxes {
			return "", fmt.Errorf("%s is a box: give the file of boxes, too", cell)
		}
		rel, err := r.find(photo, suffix, literal)
		return rel + cell[len(photo):], err
	}
	rel, err := r.find(cell, suffix, literal)
	if number == 0 || !r.opts.Boxes || !errors.Is(err, fs.ErrNotExist) {
		return rel, err
	}
	if rel, err := r.find(photo, suffix, literal); err == nil {
		return rel + cell[len(photo):], nil
	}
	return "", err
}
