package preprocess

import "context"

// A Remark says something about a photo that is read nevertheless.
type Remark string

// The remarks.
const (
	// RemarkDark means that the file does not say how many of its 16 bits matter.
	RemarkDark Remark = "16-bit photos use only the low values and are nearly black; scale them, or state the bits " +
		"(PNG's sBIT, TIFF's MaxSampleValue)"
	// RemarkBands means that a picture has more channels than red, green and blue.
	RemarkBands Remark = "photos have more bands than red, green and blue; the first three are used"
	// RemarkFloat means that the file does not say which of its numbers is white.
	RemarkFloat Remark = "TIFF photos have numbers of floating point; 1 is taken as white, or 255 or 65535 where " +
		"numbers are larger"
	// RemarkHidden means that the centre crop shows less than three quarters of what it shows of
	// a square picture.
	RemarkHidden Remark = "photos lose more than a quarter of their area to the centre crop; to show all of it, " +
		"train with preprocess.view=squeeze, pad or views"
	// RemarkEnd means that the end of the file is missing, and little of the picture.
	RemarkEnd Remark = "photos are damaged at their end; what is missing of the picture is grey or black"
)

type remarkKey struct{}

// WithRemarks returns a context whose pictures' remarks are passed to note.
func WithRemarks(ctx context.Context, note func(Remark)) context.Context {
	return context.WithValue(ctx, remarkKey{}, note)
}

func remark(ctx context.Context, r Remark) {
	if note, ok := ctx.Value(remarkKey{}).(func(Remark)); ok {
		note(r)
	}
}
