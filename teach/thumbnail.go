package teach

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// ThumbnailFile names the thumbnail of a photo in a folder of them.
func ThumbnailFile(dir string, id ID) string {
	name := id.String()
	return filepath.Join(dir, name[:2], name+".jpg")
}

// ReadThumbnail returns the picture of a photo that is kept in a folder.
func ReadThumbnail(dir string, id ID) ([]byte, error) {
	const most = 1 << 20 // bytes, more than any has
	return regularfile.Read(ThumbnailFile(dir, id), most)
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
