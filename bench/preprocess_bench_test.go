//go:build unix

package bench_test

import (
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// BenchmarkPreprocessPython compares JPEG to tensor with Pillow, in processor time of one thread;
// of_python is our speed relative to Pillow's.
func BenchmarkPreprocessPython(b *testing.B) {
	b.Run("photos_300x240_to_224/n=200", func(b *testing.B) {
		root, samples := photos(b, 200)
		againstPillow(b, paths(root, samples), 1)
	})
	b.Run("drawn_500x375_to_224", func(b *testing.B) { againstPillow(b, []string{drawn(b, 500, 375)}, 100) })
	b.Run("drawn_4000x3000_to_224", func(b *testing.B) { againstPillow(b, []string{drawn(b, 4000, 3000)}, 2) })
}

// againstPillow processes the files repeat times in each round.
func againstPillow(b *testing.B, files []string, repeat int) {
	pillowAgainst(b, newPreprocessor(b, "imagenet"), files, repeat)
}

func pillowAgainst(b *testing.B, pre *preprocess.Preprocessor, files []string, repeat int) {
	p := newPeer(b, files, "preprocess_peer.py", "--processor", "--repeat", strconv.Itoa(repeat))
	side := pre.Spec().Side()
	dst := make([]float32, 3*side*side)
	inMemory := contents(b, files)
	against(b, p, len(files), func() time.Duration {
		begin := processorTime(b)
		for range repeat {
			for _, file := range inMemory {
				must.Do(b, pre.Tensor(b.Context(), dst, file))
			}
		}
		return (processorTime(b) - begin) / time.Duration(repeat)
	})
}

// drawn writes a picture of waves and grain as a JPEG file (4:2:0, quality 90)
// about as large as a photo's, and returns its path.
func drawn(b *testing.B, width, height int) string {
	b.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	grain := uint32(1)
	for y := range height {
		for x := range width {
			grain = grain*1664525 + 1013904223
			v := 128 + 60*math.Sin(float64(x)/23) + 40*math.Cos(float64(y)/17) + float64(grain>>24)/16
			m.SetRGBA(x, y, color.RGBA{uint8(v), uint8(v / 2), uint8(255 - v), 255})
		}
	}
	path := filepath.Join(b.TempDir(), "drawn.jpg")
	file := must.Get(os.Create(path))(b)
	defer file.Close()
	must.Do(b, jpeg.Encode(file, m, &jpeg.Options{Quality: 90}))
	return path
}
