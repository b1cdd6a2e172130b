package preprocess

import (
	"context"

	"github.com/seed-90d10d51/pipeline/internal/icc"
)

// inSRGB returns what opens a picture with its colours converted to sRGB, from those of
// its profile.
func inSRGB(open func(context.Context) (raster, error), profile []byte) func(context.Context) (raster, error) {
	if len(profile) == 0 {
		return open
	}
	return func(ctx context.Context) (raster, error) {
		r, err := open(ctx)
		if t := icc.New(profile); err == nil && t != nil {
			r = &wideRaster{r, t}
		}
		return r, err
	}
}

// A wideRaster has the colours of a profile.
type wideRaster struct {
	raster
	transform *icc.Transform
}

func (r *wideRaster) row(dst []byte, y, x0, x1 int) {
	r.raster.row(dst, y, x0, x1)
	r.transform.Convert(dst[:3*(x1-x0)])
}
