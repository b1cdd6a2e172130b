package pipeline

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/teach"
)

// thumbnails is the folder of the cache in which servers keep small pictures of photos.
const thumbnails = "thumbnails"

// ThumbnailFile names the thumbnail of a photo in a folder of them.
func ThumbnailFile(dir string, id teach.ID) string {
	name := id.String()
	return filepath.Join(dir, name[:2], name+".jpg")
}

// RemoveThumbnails removes the thumbnails of photos from the folder in which servers
// keep them.
func RemoveThumbnails(dir string, ids []teach.ID) (err error) {
	for _, id := range ids {
		if e := atomicfile.Remove(ThumbnailFile(dir, id)); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}
