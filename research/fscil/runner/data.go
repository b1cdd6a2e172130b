package runner

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/seed-90d10d51/pipeline/research/fscil/benchmark"
)

// CompareData says whether the images are those of the published rows, if it is known which
// those are. Others are no error, but a folder that is missing is, and says where they are.
func (r Runner) CompareData() error {
	name := r.Sessions.Dataset
	data, known, err := benchmark.FindData(name)
	if err != nil || !known || r.Images == "" {
		return err
	}
	differs, err := data.Differs(r.Images)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return benchmark.Where(name, fmt.Errorf("images of %s: %w", name, err))
	case err != nil:
		return err
	case differs != "":
		r.Log.Warn("the images are not those of the published rows", "images", r.Images, "why", differs)
	default:
		r.Say("%s: as many images as in the published benchmark", name)
	}
	return nil
}
