package commandtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"path/filepath"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// A detection is a box as MegaDetector writes it.
type detection struct {
	Category string     `json:"category"`
	Conf     float64    `json:"conf"`
	BBox     [4]float64 `json:"bbox"`
}

// sideBySide writes a picture of several classes, each in a square of its own, and
// returns their boxes.
func (l *Bed) sideBySide(file string, number int, classes ...string) (found []detection) {
	l.Helper()
	const side = SmallSide
	all := image.NewRGBA(image.Rect(0, 0, side*len(classes), side))
	for i, class := range classes {
		m := must.Get(jpeg.Decode(bytes.NewReader(Photo(class, number, side))))(l)
		draw.Draw(all, image.Rect(i*side, 0, (i+1)*side, side), m, image.Point{}, draw.Src)
		width := 1 / float64(len(classes))
		found = append(found, detection{"1", 0.9, [4]float64{(float64(i) + 0.15) * width, 0.15, 0.7 * width, 0.7}})
	}
	var b bytes.Buffer
	must.Do(l, png.Encode(&b, all))
	l.Write(file, b.Bytes())
	return found
}

// Boxed writes six photos of one to three classes each and their boxes, as MegaDetector and as
// COCO do (md.json, coco.json), and returns the class of each box. MegaDetector finds a person in
// one, nothing in another, and a photo that cannot be read.
func (l *Bed) Boxed(dir string, first int) (truth map[string]string) {
	l.Helper()
	truth = map[string]string{}
	var images, sizes, annotations []map[string]any
	classes := []string{"kiwi", "lime", "plum"}
	for n := range 6 {
		name := fmt.Sprintf("%d.png", n)
		of := []string{classes[n%3], classes[(n+1)%3], classes[(n+2)%3]}[:1+n%3]
		found := l.sideBySide(filepath.Join(dir, name), first+n, of...)
		width, height := float64(SmallSide*len(of)), float64(SmallSide)
		for i, class := range of {
			truth[fmt.Sprintf("%s#%d", name, i+1)] = class
			b := found[i].BBox
			annotations = append(annotations, map[string]any{"image_id": n, "category_id": slices.Index(classes, class),
				"bbox": []float64{b[0] * width, b[1] * height, b[2] * width, b[3] * height}})
		}
		images = append(images, map[string]any{"file": name, "detections": found})
		sizes = append(sizes, map[string]any{"id": n, "file_name": name, "width": width, "height": height})
	}
	write := func(name string, value any) {
		text := must.Get(json.Marshal(value))(l)
		l.Write(filepath.Join(dir, name), text)
	}
	var categories []map[string]any
	for i, class := range classes {
		categories = append(categories, map[string]any{"id": i, "name": class})
	}
	write("coco.json", map[string]any{"images": sizes, "annotations": annotations, "categories": categories})
	person := detection{"2", 0.75, [4]float64{0, 0, 0.5, 1}}
	images[2]["detections"] = append(images[2]["detections"].([]detection), person, detection{"1", 0.1, person.BBox})
	l.Write(filepath.Join(dir, "empty.png"), Photo("kiwi", 90, SmallSide))
	l.Write(filepath.Join(dir, "broken.png"), []byte("\x89PNG\r\n\x1a\n"))
	images = append(images, map[string]any{"file": "empty.png", "detections": []detection{}},
		map[string]any{"file": "broken.png", "detections": []detection{person}},
		map[string]any{"file": "gone.png", "detections": []detection{person}})
	write("md.json", map[string]any{"images": images, "info": map[string]any{"format_version": "1.4"},
		"detection_categories": map[string]string{"1": "animal", "2": "person", "3": "vehicle"}})
	return truth
}
