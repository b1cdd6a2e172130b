package pipeline

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// boxesOf returns the boxes of the images if there is a file of boxes, and otherwise the
// images. It is what --boxes means to every command.
func (in inputs) boxesOf(ctx context.Context, images *dataset.Source) (*dataset.Source, *dataset.BoxesFound, error) {
	if in.Boxes.File == "" {
		return images, nil, nil
	}
	boxes, err := in.readBoxes(images.Root())
	if err != nil {
		return nil, nil, err
	}
	boxed, found, err := images.Boxed(ctx, boxes)
	if err != nil {
		return nil, nil, err
	}
	in.noteBoxes(found)
	return boxed, &found, nil
}

// readBoxes reads the file of boxes, for photos below a folder.
func (in inputs) readBoxes(root string) (*dataset.Boxes, error) {
	return dataset.ReadBoxes(in.Boxes.File, root, dataset.BoxOptions{
		MinConfidence: in.Boxes.MinConfidence, Classify: !in.detected, AsStored: !in.settings.Preprocess.Orientation,
	})
}

// A boxedFolder is a folder of photos of which the boxes are looked at, again and again.
type boxedFolder struct {
	inputs
	boxes *dataset.Boxes
	found atomic.Pointer[dataset.BoxesFound] // by the last scan
}

// boxedFolder reads the file of boxes, once, and says how it fits the photos.
func (in inputs) boxedFolder(ctx context.Context) (*boxedFolder, error) {
	in.detected = true
	f := &boxedFolder{inputs: in}
	var err error
	if f.boxes, err = in.readBoxes(in.Images); err != nil {
		return nil, err
	}
	boxed, err := f.source(ctx)
	if err != nil {
		return nil, err
	}
	in.noteBoxes(*f.found.Load())
	for range boxed.Samples(ctx) { // for its problems
	}
	found, err := boxed.Outcome()
	if n := len(found.Problems); n > 0 {
		in.log.Warn("boxes or photos that cannot be used are left out; label lists them in errors.csv",
			"problems", n, "first", dataset.EscapePath(found.Problems[0].Path), "reason", found.Problems[0].Err)
	}
	return f, err
}

func (f *boxedFolder) source(ctx context.Context) (*dataset.Source, error) {
	listing, err := f.inputs.found(ctx)
	if err != nil {
		return nil, err
	}
	boxed, found, err := listing.Source().Boxed(ctx, f.boxes)
	if err == nil {
		f.found.Store(&found)
	}
	return boxed, err
}

// scan lists the boxes of the photos that are there now.
func (f *boxedFolder) scan(ctx context.Context) ([]dataset.Sample, error) {
	boxed, err := f.source(ctx)
	if err != nil {
		return nil, err
	}
	samples := slices.Collect(boxed.Samples(ctx))
	_, err = boxed.Outcome()
	return samples, err
}

// fit tells how photos and boxes fit, as of the last scan.
func (f *boxedFolder) fit() dataset.BoxesFound { return *f.found.Load() }

// noteBoxes says how a file of boxes and the photos fit. What is only a part of the photos
// need not have everything that the file lists.
func (in inputs) noteBoxes(found dataset.BoxesFound) {
	log, filter := in.log, in.Scan
	part := in.List != "" || filter.Shard != "" || len(filter.Include)+len(filter.Exclude) > 0
	log.Info(fmt.Sprintf("reading %s of %s instead of whole photos", plural(found.Boxes, "box", "boxes"),
		plural(len(found.Photos), "photo", "photos")), "without_boxes", found.Empty())
	if found.Before != "" {
		log.Info("the file of boxes has paths as on another machine, or in other letters", "before_them", found.Before)
	}
	if n := found.Unlisted.N; n > 0 {
		log.Warn("photos that the file of boxes does not list are left out", "photos", n, "such_as",
			found.Unlisted.Names())
	}
	if n := found.Absent.N; n > 0 && !part {
		log.Warn("the file of boxes lists photos that are not here", "photos", n, "such_as", found.Absent.Names())
	}
	if found.Videos > 0 {
		log.Info("boxes of videos are not read", "videos", found.Videos)
	}
}

// items is "1 image" or "2 boxes".
func items(n int, boxed *dataset.BoxesFound) string {
	if boxed != nil {
		return plural(n, "box", "boxes")
	}
	return plural(n, "image", "images")
}
