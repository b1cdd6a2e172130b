package dataset_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// boxesOf reads a text as a file of boxes of photos, and lists the items and problems.
func boxesOf(t *testing.T, text string, opts dataset.BoxOptions, photos ...string) (lines []string,
	found dataset.BoxesFound, err error) {
	t.Helper()
	root := t.TempDir()
	for _, name := range photos {
		writeFile(t, filepath.Join(root, name), []byte("a photo"))
	}
	return boxesBelow(t, root, text, opts)
}

func writeFile(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func boxesBelow(t *testing.T, root, text string, opts dataset.BoxOptions) (lines []string, found dataset.BoxesFound,
	err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "boxes.json")
	writeFile(t, file, []byte(text))
	boxes, err := dataset.ReadBoxes(file, root, opts)
	if err != nil {
		return nil, found, err
	}
	photos, err := dataset.Walk(t.Context(), root, dataset.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	source, found, err := photos.Boxed(t.Context(), boxes)
	if err != nil {
		return nil, found, err
	}
	for s := range source.Samples(t.Context()) {
		if s.Path != s.File()+fmt.Sprint("#", s.Box.Number) {
			t.Errorf("%s is box %d of %s", s.Path, s.Box.Number, s.File())
		}
		lines = append(lines, fmt.Sprintf("%s %s [%s] %s", s.Path, s.Box, s.Label, s.Box.Category))
	}
	if n := source.Len(); n != len(lines) {
		t.Errorf("Len %d, and %d samples", n, len(lines))
	}
	outcome, err := source.Outcome()
	for _, p := range outcome.Problems {
		lines = append(lines, fmt.Sprintf("%s: %v", p.Path, p.Err))
	}
	return lines, found, err
}

func wantLines(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestMegaDetector reads a file as version 1.4 writes it, with everything that may be
// wrong with a photo or a box.
func TestMegaDetector(t *testing.T) {
	const text = `{
	 "info": {"format_version": "1.4", "detector": "md_v5a.0.0.pt", "detector_metadata": {"x": [[1], {"y": null}]}},
	 "detection_categories": {"1": "animal", "2": "person", "3": "vehicle"},
	 "classification_categories": {"0": "fox"},
	 "images": [
	  {"file": "b/two.jpg", "detections": [
	    {"category": "1", "conf": 0.9, "bbox": [0.1, 0.2, 0.3, 0.4], "classifications": [["0", 0.9]]},
	    {"category": "1", "conf": 0.1, "bbox": [0, 0, 1, 1]},
	    {"category": "2", "conf": 0.8, "bbox": [0.5, 0.5, 0.25, 0.5]}]},
	  {"file": "a\\one.jpg", "detections": [{"category": "1", "conf": 0.2, "bbox": [-0.1, 0.9, 0.3, 0.4]}]},
	  {"file": "empty.jpg", "detections": []},
	  {"file": "broken.jpg", "failure": "image access failure", "detections": null},
	  {"file": "nothing.jpg"},
	  {"file": "video.mp4", "frame_rate": 30, "detections": [
	    {"category": "1", "conf": 1, "bbox": [0,0,1,1], "frame_number": 3}]},
	  {"file": "frames.jpg", "detections": [{"category": "1", "conf": 1, "bbox": [0,0,1,1], "frame_number": 3}]},
	  {"file": "gone.jpg", "detections": []},
	  {"file": "bad.jpg", "detections": [
	    {"category": "1", "conf": 0.9, "bbox": [0.1, 0.1, 0, 0.4]},
	    {"category": "1", "conf": 0.9, "bbox": [1.1, 0.1, 0.2, 0.4]},
	    {"category": "1", "conf": NaN, "bbox": [0.1, 0.1, 0.2, 0.4]},
	    {"category": "1", "conf": 0.9, "bbox": [0.1, NaN, Infinity, 0.4]},
	    {"category": "1", "conf": 0.9, "bbox": [0.1, 0.2, 0.4]},
	    {"category": "7", "conf": 0.9, "bbox": [0.1, 0.1, 0.2, 0.4]},
	    {"category": "1", "conf": 1.5, "bbox": [0.1, 0.1, 0.2, 0.4]},
	    {"category": "1", "conf": 0.9, "bbox": [0.1, 0.1, -0.2, 0.4]},
	    {"category": 1, "conf": 0.9, "bbox": [0.125, 0.1, 0.2, 0.4]}]},
	  {"file": "type.jpg", "detections": "none"},
	  {"file": "twice.jpg", "detections": []}, {"file": "./twice.jpg", "detections": []}
	 ]}`
	photos := []string{"a/one.jpg", "b/two.jpg", "bad.jpg", "broken.jpg", "empty.jpg", "frames.jpg", "nothing.jpg",
		"type.jpg", "twice.jpg", "unlisted.jpg"}
	want := []string{
		"a/one.jpg#1 0,0.9,0.2,0.1 [a] animal",
		"b/two.jpg#1 0.1,0.2,0.3,0.4 [b] animal",
		"b/two.jpg#3 0.5,0.5,0.25,0.5 [] person",
		"bad.jpg#9 0.125,0.1,0.2,0.4 [] animal",
		"bad.jpg#1: it has no area: 0 × 0.4",
		"bad.jpg#2: it lies outside the photo: from 1.1, 0.1",
		"bad.jpg#3: its confidence is missing or not a number",
		"bad.jpg#4: its bbox has a value that is not a number",
		"bad.jpg#5: its bbox has 3 numbers, not 4",
		"bad.jpg#6: its category 7 has no name in the file",
		"bad.jpg#7: its confidence is 1.5, not from 0 to 1",
		"bad.jpg#8: it has no area: -0.2 × 0.4",
		"broken.jpg: the detector could not read it: image access failure",
		"nothing.jpg: the detector says nothing about it",
		"twice.jpg: boxes.json lists it twice",
	}
	got, found, err := boxesOf(t, text, dataset.BoxOptions{MinConfidence: 0.2}, photos...)
	if err != nil {
		t.Fatal(err)
	}
	got = slices.DeleteFunc(got, func(line string) bool { return strings.HasPrefix(line, "type.jpg: its record") })
	wantLines(t, got, want)
	if found.Boxes != 4 || found.Empty() != 1 || found.Videos != 2 || found.Absent.Names() != "gone.jpg" ||
		found.Unlisted.Names() != "frames.jpg, unlisted.jpg" {
		t.Errorf("found %+v", found)
	}
	got, _, err = boxesOf(t, text, dataset.BoxOptions{MinConfidence: 0.5, Classify: true}, photos...)
	if err != nil || !slices.Equal(got[:2], []string{want[1], want[3]}) {
		t.Errorf("what is classified: %v, %v", got[:2], err)
	}
}

// TestCOCO: boxes are in pixels, lists come in any order, and crowds are no boxes.
func TestCOCO(t *testing.T) {
	const text = `{"annotations": [
	   {"image_id": 7, "category_id": 2, "bbox": [10, 20, 30, 40], "id": 1, "iscrowd": 0, "segmentation": [[1, 2]]},
	   {"image_id": 7, "category_id": 1, "bbox": [0, 0, 200, 100], "iscrowd": 1},
	   {"image_id": 8, "category_id": 2, "bbox": [0, 0, 1, 1]},
	   {"image_id": 9, "category_id": 2},
	   {"image_id": 3, "category_id": 2, "bbox": [0, 0, 1, 1]},
	   {"image_id": 7, "category_id": 2, "bbox": "all"}],
	 "images": [{"id": 7, "file_name": "one.jpg", "width": 200, "height": 100},
	   {"id": 8, "file_name": "sizeless.jpg"}, {"id": 9, "file_name": "tagged.jpg", "width": 10, "height": 10},
	   {"id": 7, "file_name": "same.jpg", "width": 10, "height": 10}],
	 "categories": [{"id": 1, "name": "crowd"}, {"id": 2, "name": "red fox", "supercategory": "animal"}]}`
	got, found, err := boxesOf(t, text, dataset.BoxOptions{MinConfidence: 0.2},
		"one.jpg", "sizeless.jpg", "tagged.jpg", "same.jpg")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range got {
		if at := strings.Index(line, "annotation: "); at >= 0 {
			got[i] = line[:at]
		}
	}
	wantLines(t, got, []string{
		"one.jpg#1 0.05,0.2,0.15,0.4 [red fox] red fox",
		"one.jpg#2: its ",
		"same.jpg: the identifier 7 is that of another photo, too",
		"sizeless.jpg#1: its photo has no width and height in the file, which boxes in pixels need",
	})
	if found.Empty() != 2 || found.Absent.Names() != "image_id 3" {
		t.Errorf("found %+v", found)
	}
}

// oriented is a JPEG of 40×20 pixels with an EXIF orientation.
func oriented(t *testing.T, orientation byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 20)), nil); err != nil {
		t.Fatal(err)
	}
	exif := append([]byte("\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08"+
		"\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"), orientation, 0, 0, 0, 0, 0, 0)
	return slices.Concat(b.Bytes()[:2], exif, b.Bytes()[2:])
}

// TestCOCOOnStoredPhotos: the size in the file says whether boxes are on the photo as
// stored or as shown, and both give the same box. A corner of the photo shows where
// each orientation puts it.
func TestCOCOOnStoredPhotos(t *testing.T) {
	shown := map[byte]string{ // where the upper left corner of the stored photo is
		1: "0,0,0.25,0.1", 5: "0,0,0.1,0.25", 6: "0.9,0,0.1,0.25", 7: "0.9,0.75,0.1,0.25", 8: "0,0.75,0.1,0.25",
	}
	for orientation, want := range shown {
		root := t.TempDir()
		writeFile(t, filepath.Join(root, "photo.jpg"), oriented(t, orientation))
		file := func(width, height int, box string) string {
			return fmt.Sprintf(`{"images": [{"id": 1, "file_name": "photo.jpg", "width": %d, "height": %d}],
				"annotations": [{"image_id": 1, "category_id": 1, "bbox": [%s]}],
				"categories": [{"id": 1, "name": "fox"}]}`, width, height, box)
		}
		line := "photo.jpg#1 " + want + " [fox] fox"
		got, _, err := boxesBelow(t, root, file(40, 20, "0,0,10,2"), dataset.BoxOptions{})
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, got, []string{line})
		if orientation == 1 {
			continue
		}
		var v [4]float64
		if _, err := fmt.Sscanf(want, "%g,%g,%g,%g", &v[0], &v[1], &v[2], &v[3]); err != nil {
			t.Fatal(err)
		}
		box := fmt.Sprintf("%g,%g,%g,%g", v[0]*20, v[1]*40, v[2]*20, v[3]*40)
		if got, _, err = boxesBelow(t, root, file(20, 40, box), dataset.BoxOptions{}); err != nil {
			t.Fatal(err)
		}
		wantLines(t, got, []string{line})
		got, _, err = boxesBelow(t, root, file(40, 20, "0,0,10,2"), dataset.BoxOptions{AsStored: true})
		if err != nil || got[0] != "photo.jpg#1 0,0,0.25,0.1 [fox] fox" {
			t.Errorf("as stored: %q, %v", got, err)
		}
	}
}

func TestBoxFilesRefused(t *testing.T) {
	many := strings.Repeat(`{"category": "1", "conf": 1, "bbox": [0,0,1,1]},`, 10_000)
	for text, want := range map[string]string{
		``:                                    "too early",
		`{"images": [{"file": "a.jpg"`:        "too early",
		`[1, 2]`:                              "neither",
		`{"info": {}}`:                        `no list "images"`,
		`{"images": {}}`:                      "neither",
		`{"images": [{}]}`:                    "neither file",
		`{"images": [{"file": "a.jpg",}]}`:    "byte",
		`path,label` + "\n" + `a.jpg,b`:       "byte",
		`{"images": [{"file": "other.jpg"}]}`: "none of the 1 files",
		strings.Repeat(`{"a":`, 100_000):      "too early",
		`{"images": [{"file": "a.jpg", "detections": [` + many + many[:len(many)-1] + `]}]}`: "",
	} {
		got, _, err := boxesOf(t, text, dataset.BoxOptions{}, "a.jpg")
		if want == "" {
			if err != nil || len(got) != 1 || !strings.Contains(got[0], "more than 10000 boxes") {
				t.Errorf("too many boxes: %.100q, %v", got, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want one with %q", text, err, want)
		}
	}
}

// TestBoxesByAbsoluteName: files may be listed by absolute paths, and in another form of
// Unicode than the disk has.
func TestBoxesByAbsoluteName(t *testing.T) {
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "caf\u00e9", "a.jpg"), []byte("photo"))
	name, err := json.Marshal(filepath.Join(root, "cafe\u0301", "a.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := boxesBelow(t, root, `{"images": [{"file": `+string(name)+
		`, "detections": [{"category": "1", "conf": 1, "bbox": [0,0,1,1]}]}]}`, dataset.BoxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, got, []string{"caf\u00e9/a.jpg#1 0,0,1,1 [caf\u00e9] animal"})
}

// FuzzBoxes: whatever the bytes, boxes lie on their photo and have an area.
func FuzzBoxes(f *testing.F) {
	f.Add([]byte(`{"images": [{"file": "a.jpg", "detections": [
		{"category": "1", "conf": 0.9, "bbox": [0.1, NaN, -Infinity, 0.4]}]}]}`))
	f.Add([]byte(`{"annotations": [{"image_id": 1, "category_id": 1, "bbox": [1e308, 2, 1e308, 4]}],
		"images": [{"id": 1, "file_name": "a.jpg", "width": 1e-300, "height": 4}],
		"categories": [{"id": 1, "name": "x"}]}`))
	f.Add([]byte(`{"images": [{"file": "a.jpg", "file_name": "b\\", "detections": [{}, {"bbox": [null]}]}],
		"x": "\"NaN"}`))
	root := f.TempDir()
	for _, name := range []string{"a.jpg", "b.jpg"} {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o644); err != nil {
			f.Fatal(err)
		}
	}
	photos, err := dataset.Walk(context.Background(), root, dataset.ScanOptions{})
	if err != nil {
		f.Fatal(err)
	}
	file := filepath.Join(f.TempDir(), "boxes.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		boxes, err := dataset.ReadBoxes(file, root, dataset.BoxOptions{})
		if err != nil {
			return
		}
		source, _, err := photos.Boxed(t.Context(), boxes)
		if err != nil {
			return
		}
		for s := range source.Samples(t.Context()) {
			b := s.Box
			if !(b.X >= 0 && b.Y >= 0 && b.W > 0 && b.H > 0 && b.X+b.W <= 1 && b.Y+b.H <= 1) || b.Category == "" ||
				math.IsNaN(b.Confidence) {
				t.Errorf("%+v", *b)
			}
		}
	})
}

// BenchmarkBoxes100000 reads 100 000 boxes of 40 000 photos; heap-B is what they keep.
func BenchmarkBoxes100000(b *testing.B) {
	var text bytes.Buffer
	text.WriteString(`{"detection_categories": {"1": "animal"}, "images": [`)
	for i := range 40_000 {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"file": "site%02d/100MEDIA/IMG_%05d.JPG", "detections": [`, i%50, i)
		for k := range 2 + i%2 {
			if k > 0 {
				text.WriteByte(',')
			}
			fmt.Fprintf(&text, `{"category": "1", "conf": 0.%d, "bbox": [0.1, 0.2, 0.%d, 0.4]}`, 900+k, i%9+1)
		}
		text.WriteString(`]}`)
	}
	text.WriteString(`]}`)
	file := filepath.Join(b.TempDir(), "boxes.json")
	if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
		b.Fatal(err)
	}
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		boxes, err := dataset.ReadBoxes(file, "/photos", dataset.BoxOptions{})
		if err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc)-float64(before.HeapAlloc), "heap-B")
		runtime.KeepAlive(boxes)
	}
}
