package command

import (
	"context"
	"fmt"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// boxesOf returns the boxes of the images if there is a file of boxes, and otherwise the
// images. It is what --boxes means to every command.
func (in inputs) boxesOf(ctx context.Context, images *dataset.Source) (*dataset.Source, *dataset.BoxesFound, error) {
	if in.boxes.File == "" {
		return images, nil, nil
	}
	boxes, err := dataset.ReadBoxes(in.boxes.File, images.Root(), dataset.BoxOptions{
		MinConfidence: in.boxes.MinConfidence, Classify: !in.detected, AsStored: !in.embed.Preprocess.Orientation,
	})
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

// noteBoxes says how a file of boxes and the photos fit. What is only a part of the photos
// need not have everything that the file lists.
func (in inputs) noteBoxes(found dataset.BoxesFound) {
	log, filter := in.notes.log, in.scan
	part := in.list != "" || filter.Shard != "" || len(filter.Include)+len(filter.Exclude) > 0
	log.Info(fmt.Sprintf("reading %s of %s instead of whole photos", plural(found.Boxes, "box", "boxes"),
		plural(len(found.Photos), "photo", "photos")), "without_boxes", found.Empty())
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

// wholePhotos returns a usage error if a flag that is about photos is used with boxes.
func (a *app) wholePhotos(flag string, used bool) error {
	if used && a.config.Boxes.File != "" {
		return usagef("--%s is about whole photos, and with --boxes a photo may have several labels: leave out one of "+
			"the two", flag)
	}
	return nil
}

// items is "1 image" or "2 boxes".
func items(n int, boxed *dataset.BoxesFound) string {
	if boxed != nil {
		return plural(n, "box", "boxes")
	}
	return plural(n, "image", "images")
}
