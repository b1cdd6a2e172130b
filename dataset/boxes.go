package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/jpeg"
	"io"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
)

// BoxOptions say which boxes are read.
type BoxOptions struct {
	// MinConfidence leaves out boxes of which a detector is less sure.
	MinConfidence float64
	// Classify leaves out boxes whose category stays, such as persons.
	Classify bool
	// AsStored says that the orientation of photos is ignored, so that boxes are on the
	// photo as stored.
	AsStored bool
}

// Boxes are the rectangles that a detector or people drew on photos.
type Boxes struct {
	name   string
	coco   bool
	opts   BoxOptions
	photos map[string]*boxedPhoto // by spelled path
	videos int
}

// A boxedPhoto is what a file says of one photo.
type boxedPhoto struct {
	boxes    []*Box
	problems []Problem // Path is a number of a box, or "" for the photo
	width    float64   // as COCO says
	height   float64
	placed   bool // boxes are on the upright photo
	seen     bool
}

// ReadBoxes reads boxes of photos below root from MegaDetector's JSON (versions 1.0 to
// 1.4 of its batch output) or COCO's. What is wrong with one photo or box is a Problem
// of the Source that Boxed returns, once the photo is found. Boxes are cut at the edges
// of their photo. What COCO marks as a crowd is left out; a polygon without a box has the
// rectangle around it, and an annotation with neither is of the whole photo. A photo is
// empty only if the file says so: not where boxes were left out or cannot be used.
//
// The file is read once, a record at a time; it may have 5 000 000 boxes, 10 000 of a
// photo, and 64 MiB in a record.
func ReadBoxes(file, root string, opts BoxOptions) (*Boxes, error) {
	f, size, err := regularfile.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read boxes: %w", err)
	}
	defer f.Close()
	t, err := openText(f, size)
	if err != nil {
		return nil, fmt.Errorf("read boxes %s: %w", file, err)
	}
	parsed, err := parseBoxes(t.raw())
	if err != nil {
		return nil, fmt.Errorf("read boxes %s: %w", file, err)
	}
	absolute, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("read boxes %s: %w", file, err)
	}
	b := &Boxes{name: filepath.Base(file), coco: parsed.coco, opts: opts, photos: map[string]*boxedPhoto{}}
	for i, r := range parsed.records {
		parsed.records[i] = nil // frees it
		b.add(absolute, parsed, r)
	}
	return b, nil
}

// add adds a record under the path that its photo has below the root.
func (b *Boxes) add(root string, f *boxFile, r *boxRecord) {
	if r.video || kindByName(path.Base(r.file)) == "video" {
		b.videos++
		return
	}
	p := &boxedPhoto{width: r.width, height: r.height, placed: !f.coco}
	for i, found := range r.boxes {
		number := i + 1
		box, err := found.box(f, r)
		switch {
		case err != nil:
			p.problems = append(p.problems, Problem{fmt.Sprint(boxMark, number), err})
		case box.Confidence < b.opts.MinConfidence, b.opts.Classify && box.Kept:
		default:
			box.Number = number
			p.boxes = append(p.boxes, box)
		}
	}
	switch {
	case r.err != nil:
		p.boxes, p.problems = nil, []Problem{{"", r.err}}
	case len(r.boxes) == 0 && r.crowds > 0:
		p.problems = []Problem{{"", errors.New("it shows a crowd, in which the file has no single things")}}
	case len(r.boxes) == 0 && r.surest > 0 && r.surest >= b.opts.MinConfidence:
		p.problems = []Problem{{"", fmt.Errorf("the detector saw something with a confidence of %g, but the file does "+
			"not say where", r.surest)}}
	}
	for _, name := range []string{r.file, strings.ReplaceAll(r.file, `\`, "/")} {
		rel, err := relativeTo(root, name)
		if err != nil {
			rel = name
		}
		b.put(spelled(rel), p)
	}
}

// put adds what the file says of a photo under a path.
func (b *Boxes) put(path string, p *boxedPhoto) {
	if twice := b.photos[path]; twice == nil {
		b.photos[path] = p
	} else if twice != p {
		twice.boxes, twice.problems = nil, []Problem{{"", fmt.Errorf("%s lists it twice", b.name)}}
	}
}

// box returns the box, in shares of the photo, cut at its edges.
func (found foundBox) box(f *boxFile, r *boxRecord) (*Box, error) {
	if found.err != nil {
		return nil, found.err
	}
	category, named := f.categories[found.category]
	if !named || category == "" {
		return nil, fmt.Errorf("its category %s has no name in the file", shown(found.category))
	}
	width, height := 1.0, 1.0
	if f.coco && !found.whole {
		width, height = r.width, r.height
	}
	if !(width > 0 && height > 0) {
		return nil, errors.New("its photo has no width and height in the file, which boxes in pixels need")
	}
	v := found.rectangle
	left, right := cutAt(v[0]/width), cutAt((v[0]+v[2])/width)
	top, bottom := cutAt(v[1]/height), cutAt((v[1]+v[3])/height)
	switch {
	case !(v[2] > 0 && v[3] > 0):
		return nil, fmt.Errorf("it has no area: %g × %g", v[2], v[3])
	case !(right > left && bottom > top):
		return nil, fmt.Errorf("it lies outside the photo: from %g, %g", v[0], v[1])
	case !(found.confidence >= 0 && found.confidence <= 1):
		return nil, fmt.Errorf("its confidence is %g, not from 0 to 1", found.confidence)
	}
	return &Box{X: left, Y: top, W: right - left, H: bottom - top, Category: category,
		Confidence: found.confidence, Kept: !f.coco && stays(category)}, nil
}

func cutAt(share float64) float64 { return math.Max(0, math.Min(1, share)) }

// stays reports whether a detector's category is a label by itself. Everything else that it
// finds is to be classified.
func stays(category string) bool {
	switch strings.ToLower(category) {
	case "person", "human", "vehicle":
		return true
	}
	return false
}

// A BoxedPhoto is a photo of which the boxes are known, with their number.
type BoxedPhoto struct {
	Path  string
	Boxes int
	// Taken is as in Sample.
	Taken string
}

// BoxesFound tells how boxes and photos fit.
type BoxesFound struct {
	// Photos are those that the file lists, in the order of the Source, without those whose
	// boxes are not known.
	Photos []BoxedPhoto
	Boxes  int
	// Unlisted are photos that the file does not list, Absent files that it lists and that
	// are no photos of the Source.
	Unlisted, Absent Folders
	// Before is what the file has before the paths of photos that it lists as on another machine: a
	// folder, "./" if the names differ in their letters only, "" if none does.
	Before string
	// Videos is the number of videos that the file lists.
	Videos int
}

// Empty returns the number of photos without a box.
func (f BoxesFound) Empty() (n int) {
	for _, p := range f.Photos {
		if p.Boxes == 0 {
			n++
		}
	}
	return n
}

// Boxed returns a Source of the boxes of the photos of s, which may also list single boxes
// (ListOptions.Boxes). The class of a box is that which the list gives it; else that of its
// photo, or its category in COCO's format, and none if a detector's category stays.
// Photos that the file does not list are left out. The error is ctx's, or says that the
// file lists no photo of s.
//
// Boxes of COCO are on the photo as stored where the file gives its width and height for
// a photo that is shown turned by a quarter; Boxed looks into these photos. All others
// are on the upright photo.
func (s *Source) Boxed(ctx context.Context, b *Boxes) (*Source, BoxesFound, error) {
	found, unlisted := b.fit(ctx, s)
	if before := b.match(unlisted); before != "" {
		found, unlisted = b.fit(ctx, s)
		found.Before = before
	}
	none := len(unlisted) == s.Len()
	listing, err := s.Outcome()
	if err != nil {
		return nil, found, err
	}
	b.absent(&found)
	if none && found.Absent.N > 0 {
		return nil, found, phrase.New("none of the %d files that %s lists, such as %s, is a photo below %s: check "+
			"{images}", found.Absent.N, b.name, found.Absent.First[0], s.root)
	}
	out := &Source{root: s.root, n: found.Boxes, found: listing}
	out.pass = func(ctx context.Context, out *Listing, yield func(Sample) bool) error {
		var problems []Problem
		err := s.pass(ctx, out, func(sample Sample) bool {
			p, photo, only := b.of(sample)
			if p == nil {
				return true
			}
			problems = append(problems, p.problemsOf(photo.Path, only)...)
			for _, box := range p.chosen(only) {
				boxed := box.In(photo)
				if only == 0 || photo.Label == "" {
					boxed = b.labelled(boxed)
				}
				if !yield(boxed) {
					return false
				}
			}
			return true
		})
		out.Problems = append(out.Problems, problems...)
		return err
	}
	return out, found, nil
}

// fit finds the boxes of the photos of s, and the paths of those that the file does not list.
func (b *Boxes) fit(ctx context.Context, s *Source) (found BoxesFound, unlisted []string) {
	found.Videos = b.videos
	for sample := range s.Samples(ctx) {
		p, photo, only := b.of(sample)
		if p == nil {
			found.Unlisted.add(sample.Path)
			unlisted = append(unlisted, sample.Path)
			continue
		}
		p.seen = true
		if !p.unknown() {
			p.place(FullPath(s.root, photo.Path), b.opts.AsStored)
			found.add(photo, len(p.chosen(only)))
		}
	}
	return found, unlisted
}

// of returns what the file says of a photo, nil if nothing; for a sample that is a box, of
// its photo, and which box it is.
func (b *Boxes) of(s Sample) (p *boxedPhoto, photo Sample, only int) {
	if p := b.photos[spelled(s.Path)]; p != nil {
		return p, s, 0
	}
	s.Path, only = cutBox(s.Path)
	return b.photos[spelled(s.Path)], s, only
}

// chosen returns the boxes, or the one with a number.
func (p *boxedPhoto) chosen(only int) []*Box {
	if only == 0 {
		return p.boxes
	}
	at := slices.IndexFunc(p.boxes, func(b *Box) bool { return b.Number == only })
	if at < 0 {
		return nil
	}
	return p.boxes[at : at+1]
}

// problemsOf returns the problems of a photo, or those that concern one of its boxes.
func (p *boxedPhoto) problemsOf(photo string, only int) (all []Problem) {
	box := fmt.Sprint(boxMark, only)
	for _, of := range p.problems {
		if only == 0 || of.Path == "" || of.Path == box {
			all = append(all, Problem{photo + of.Path, of.Err})
		}
	}
	if only > 0 && len(all)+len(p.chosen(only)) == 0 {
		all = append(all, Problem{photo + box, errors.New("the file of boxes has no such box, or it is left out")})
	}
	return all
}

// add counts boxes of a photo, of which several may be listed one by one.
func (f *BoxesFound) add(photo Sample, boxes int) {
	f.Boxes += boxes
	if last := len(f.Photos) - 1; last >= 0 && f.Photos[last].Path == photo.Path {
		f.Photos[last].Boxes += boxes
		return
	}
	f.Photos = append(f.Photos, BoxedPhoto{photo.Path, boxes, photo.Taken})
}

// labelled gives the sample of a box its class.
func (b *Boxes) labelled(s Sample) Sample {
	switch {
	case b.coco:
		s.Label = s.Box.Category
	case s.Box.Kept:
		s.Label = ""
	}
	return s
}

// unknown reports whether it is not known which boxes the photo has: it is not empty because none of them
// can be used.
func (p *boxedPhoto) unknown() bool { return len(p.boxes) == 0 && len(p.problems) > 0 }

// absent counts what the file lists besides photos.
func (b *Boxes) absent(found *BoxesFound) {
	for _, name := range b.absentNames() {
		found.Absent.add(name)
	}
}

// place turns boxes that are on the photo as stored.
func (p *boxedPhoto) place(file string, asStored bool) {
	if p.placed || asStored || len(p.boxes) == 0 {
		return
	}
	p.placed = true
	width, height, orientation := stored(file)
	if orientation < 5 || width == height || p.width != width || p.height != height {
		return
	}
	for _, b := range p.boxes {
		b.turn(orientation)
	}
}

// shapeBytes is more than the metadata before the first scan of most JPEG files.
const shapeBytes = 256 << 10

// stored returns the size of a JPEG file's picture as stored, and its orientation; zeros
// for anything else, which few tools turn.
func stored(file string) (width, height float64, orientation int) {
	f, _, err := regularfile.Open(file)
	if err != nil {
		return 0, 0, 0
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, shapeBytes))
	if err != nil {
		return 0, 0, 0
	}
	c, err := jpeg.DecodeConfig(bytes.NewReader(head))
	if err != nil {
		return 0, 0, 0
	}
	m := photometa.JPEG(head)
	return float64(c.Width), float64(c.Height), m.Orientation()
}

// turn moves a box from the photo as stored to the upright one, for orientations 5 to 8.
func (b *Box) turn(orientation int) {
	x, y := b.Y, b.X
	if orientation == 6 || orientation == 7 {
		x = 1 - (b.Y + b.H)
	}
	if orientation == 7 || orientation == 8 {
		y = 1 - (b.X + b.W)
	}
	b.X, b.Y, b.W, b.H = math.Max(0, x), math.Max(0, y), b.H, b.W
}
