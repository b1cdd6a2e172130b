package pipeline

import (
	"context"
	"math"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/report"
)

const (
	// thumbnailSide is the longer side of a picture on a page.
	thumbnailSide = 160
	// reportName is the name of a report in its folder.
	reportName = "report.html"
)

// pageTitle names a page after its model and the folder of its photos.
func pageTitle(model, photos string) string {
	if full, err := filepath.Abs(photos); err == nil { // "." has no name
		photos = full
	}
	return strings.TrimSuffix(filepath.Base(model), ".model") + ": " + filepath.Base(photos)
}

// page returns a sink that writes report.html into a folder.
func (r *run) page(ctx context.Context, p report.Page, in input, dir string, truth *label.Evaluation,
	threshold float64) *report.Sink {
	if !math.IsInf(threshold, 1) {
		p.Threshold = &threshold
	}
	page := report.NewSink(ctx, p)
	page.Root = in.root
	page.File, page.Evaluation, page.Threads = filepath.Join(dir, reportName), truth, r.workers()
	page.Picture = in.picture(ctx)
	return page
}

// picture returns a function that makes the thumbnail of an image, or of a box in one.
func (in input) picture(ctx context.Context) func(dataset.Sample) ([]byte, error) {
	return func(s dataset.Sample) (jpeg []byte, err error) {
		file := dataset.FullPath(in.root, s.File())
		if s.Box != nil {
			jpeg, _, err = in.embedder.BoxThumbnail(ctx, file, s.Box, thumbnailSide)
		} else {
			jpeg, _, err = in.embedder.Thumbnail(ctx, file, thumbnailSide)
		}
		return jpeg, err
	}
}
