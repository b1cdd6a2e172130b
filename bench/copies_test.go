package bench_test

import (
	"cmp"
	"fmt"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/image/draw"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
	"github.com/seed-90d10d51/pipeline/teach"
)

// made are the ways in which copies are made.
var made = []struct {
	name string
	of   func(image.Image) image.Image
}{
	{"cut by 2 px", cut(2)}, {"cut by 5 px", cut(5)}, {"cut by 8 px", cut(8)},
	{"light -7 %", light(0.93)}, {"light +7 %", light(1.07)}, {"JPEG 70", func(p image.Image) image.Image { return p }},
	{"mirrored", mirrored}, {"scaled to 70 %", scaled(0.7)}, {"scaled to 50 %", scaled(0.5)},
}

func painted(of image.Image, width, height int, from func(x, y int) (int, int), by float64) image.Image {
	to := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			sx, sy := from(x, y)
			r, g, b, _ := of.At(sx, sy).RGBA()
			for k, v := range []uint32{r, g, b, 0xffff} {
				level := float64(v >> 8)
				if k < 3 {
					level = min(by*level, 255)
				}
				to.Pix[to.PixOffset(x, y)+k] = uint8(level)
			}
		}
	}
	return to
}

// cut takes n pixels from every edge, which is the worst of all ways to cut as many.
func cut(n int) func(image.Image) image.Image {
	return func(p image.Image) image.Image {
		from := func(x, y int) (int, int) { return x + n, y + n }
		return painted(p, p.Bounds().Dx()-2*n, p.Bounds().Dy()-2*n, from, 1)
	}
}

func light(by float64) func(image.Image) image.Image {
	return func(p image.Image) image.Image {
		return painted(p, p.Bounds().Dx(), p.Bounds().Dy(), func(x, y int) (int, int) { return x, y }, by)
	}
}

func mirrored(p image.Image) image.Image {
	w := p.Bounds().Dx()
	return painted(p, w, p.Bounds().Dy(), func(x, y int) (int, int) { return w - 1 - x, y }, 1)
}

func scaled(by float64) func(image.Image) image.Image {
	return func(p image.Image) image.Image {
		to := image.NewRGBA(image.Rect(0, 0, int(by*float64(p.Bounds().Dx())), int(by*float64(p.Bounds().Dy()))))
		draw.CatmullRom.Scale(to, to.Bounds(), p, p.Bounds(), draw.Src, nil)
		return to
	}
}

// TestCopiesAreFound prints a table of the near-duplicates that the page finds among photos and copies of each, made
// in turn by the ways above, at each likeness: the share of copies that are in the group of their photo, and the share
// of pairs in groups that are a photo and its copy. It needs PIPELINE_LONG: minutes.
func TestCopiesAreFound(t *testing.T) {
	if os.Getenv("PIPELINE_LONG") == "" {
		t.Skip("set PIPELINE_LONG")
	}
	for _, set := range []string{"caltech101_10/*/*.jpg", "mini_imagenet/test/n0[12]*/*0.jpg"} {
		t.Run(strings.Split(set, "/")[0], func(t *testing.T) {
			testCopies(t, must.Get(filepath.Glob(shared.Path(t, "data")+"/"+set))(t))
		})
	}
}

func testCopies(t *testing.T, files []string) {
	dir := t.TempDir()
	const each = 2 // photos of one copy
	way := map[string]string{}
	for i, file := range files {
		must.Do(t, os.Symlink(file, filepath.Join(dir, fmt.Sprintf("%05d.jpg", i))))
		if i%each != 0 {
			continue
		}
		f := must.Get(os.Open(file))(t)
		picture := must.Get(jpeg.Decode(f))(t)
		must.Do(t, f.Close())
		by := made[i/each%len(made)]
		name := fmt.Sprintf("%05d copy.jpg", i)
		way[name] = by.name
		to := must.Get(os.Create(filepath.Join(dir, name)))(t)
		quality := 92
		if by.name == "JPEG 70" {
			quality = 70
		}
		must.Do(t, cmp.Or(jpeg.Encode(to, by.of(picture), &jpeg.Options{Quality: quality}), to.Close()))
	}
	s := opened(t, dir)
	for range 2 { // by embeddings, then by pixels
		must.Get(s.Duplicates(teach.Query{Limit: 1}, 1))(t)
		s.Wait()
	}
	found := must.Get(s.Duplicates(teach.Query{Limit: 1}, 1))(t)
	t.Logf("%d photos, %d copies", len(files), len(way))
	for _, l := range found.Levels {
		pairs, right, others := 0, map[string]int{}, []string{}
		groups := must.Get(s.Duplicates(teach.Query{Limit: 1 << 20, Alike: l.Alike}, 1<<20))(t).Groups
		for _, g := range groups {
			pairs += len(g.Items) * (len(g.Items) - 1) / 2
			for k, it := range g.Items {
				for _, other := range g.Items[:k] {
					if it.Path[:5] != other.Path[:5] && !strings.Contains(it.Path+other.Path, "copy") {
						others = append(others, origin(files, it)+" and "+origin(files, other))
					}
				}
				if of, is := strings.CutSuffix(it.Path, " copy.jpg"); is && slices.ContainsFunc(g.Items,
					func(other teach.Item) bool { return other.Path == of+".jpg" }) {
					right[way[it.Path]]++
				}
			}
		}
		all, parts := 0, []string{}
		for _, by := range made {
			n := 0
			for _, name := range way {
				if name == by.name {
					n++
				}
			}
			all += right[by.name]
			parts = append(parts, fmt.Sprintf("%s %.0f %%", by.name, 100*float64(right[by.name])/float64(n)))
		}
		recall, precision := float64(all)/float64(len(way)), float64(all)/float64(max(pairs, 1))
		t.Logf("from %.2f on: recall %.3f, precision %.3f; %s", l.Alike, recall, precision, strings.Join(parts, ", "))
		if usual := l.Alike > teach.UsualAlike-0.01 && l.Alike < teach.UsualAlike+0.01; usual {
			t.Logf("pairs that are no copies: %s", strings.Join(others, ", "))
			if recall < 0.9 || precision < 0.95 {
				t.Errorf("recall %.3f, precision %.3f", recall, precision)
			}
		}
	}
}

// origin names the photo of the set that an item is.
func origin(files []string, it teach.Item) string {
	at, err := strconv.Atoi(it.Path[:5])
	if err != nil {
		panic(err) // the names are of this test
	}
	return filepath.Base(filepath.Dir(files[at])) + "/" + filepath.Base(files[at])
}

// opened returns the session of a new model with the photos of a folder.
func opened(t *testing.T, dir string) *teach.Session {
	studio := must.Get(pipeline.Open(t.Context(), pipeline.WithCache(t.TempDir())))(t)
	q := pipeline.TeachRequest{Model: filepath.Join(t.TempDir(), "m.model"), From: pipeline.Source{Images: dir}}
	teaching := must.Get(studio.Teach(t.Context(), q))(t)
	t.Cleanup(func() { teaching.Close() })
	must.Do(t, teaching.Begin(0, nil))
	samples := must.Get(teaching.Scan(t.Context()))(t)
	var photos []teach.Photo
	var vectors [][]float32
	must.Get(teaching.Embedder.EmbedSeq(t.Context(), dir, slices.Values(samples), func(item embedding.Item) error {
		photos = append(photos, teach.Photo{ID: teach.ID(item.Hash), Path: item.Sample.Path})
		vectors = append(vectors, item.Vector)
		return nil
	}))(t)
	must.Do(t, teaching.Session.Add(photos, vectors))
	return teaching.Session
}
