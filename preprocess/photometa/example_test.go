package photometa_test

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
)

// When a photo was taken, by which camera, from the beginning of its file: here a TIFF file of one tag.
func Example() {
	head := "II*\x00\x08\x00\x00\x00" + "\x01\x00" + "\x10\x01\x02\x00\x04\x00\x00\x00X-1\x00" + "\x00\x00\x00\x00"
	shot := photometa.ShotOf([]byte(head))
	fmt.Println(shot.Camera, shot.Time.IsZero())
	// Output: X-1 true
}
