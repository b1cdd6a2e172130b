package teach

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// ThumbnailFile names the thumbnail of a photo in a folder of them.
func ThumbnailFile(dir string, id ID) string {
	name := id.String()
	return filepath.Join(dir, name[:2], name+".jpg")
}

// RemoveThumbnails removes the thumbnails of photos from the folder in which servers keep them.
func RemoveThumbnails(dir string, ids []ID) (err error) {
	for _, id := range ids {
		if e := atomicfile.Remove(ThumbnailFile(dir, id)); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}
