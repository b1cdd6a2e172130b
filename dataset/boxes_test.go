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
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
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
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Do(t, os.WriteFile(file, content, 0o644))
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
	photos := must.Get(dataset.Walk(t.Context(), root, dataset.ScanOptions{}))(t)
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
	got, found := must.Get2(boxesOf(t, text, dataset.BoxOptions{MinConfidence: 0.2},
		"one.jpg", "sizeless.jpg", "tagged.jpg", "same.jpg"))(t)
	wantLines(t, got, []string{
		"one.jpg#1 0.05,0.2,0.15,0.4 [red fox] red fox",
		"tagged.jpg#1 0,0,1,1 [red fox] red fox",
		"one.jpg#2: its bbox is not a list of four numbers",
		"same.jpg: the identifier 7 is that of another photo, too",
		"sizeless.jpg#1: its photo has no width and height in the file, which boxes in pixels need",
	})
	if found.Empty() != 0 || found.Absent.Names() != "image_id 3" {
		t.Errorf("found %+v", found)
	}
}

// TestNeverEmptyByMistake: a photo is empty where the file says so, and not where it says nothing that can
// be used.
func TestNeverEmptyByMistake(t *testing.T) {
	coco := func(annotation string) string {
		return `{"images": [{"id": 1, "file_name": "a.jpg", "width": 100, "height": 50}],
			"annotations": [` + annotation + `], "categories": [{"id": 1, "name": "fox"}]}`
	}
	mega := func(record string) string { return `{"images": [{"file": "a.jpg", ` + record + `}]}` }
	const polygon = `"segmentation": [[10, 5, 60, 5, 60, 30, 10, 30], [50, 20, 70, 20, 70, 25]]`
	const around = "a.jpg#1 0.1,0.1,0.6,0.5 [fox] fox"
	for _, test := range [][2]string{
		{coco(``), "empty"},
		{coco(`{"image_id": 1, "category_id": 1, ` + polygon + `}`), around},
		{coco(`{"image_id": 1, "category_id": 1, "bbox": [], ` + polygon + `}`), around},
		{coco(`{"image_id": 1, "category_id": 1, "bbox": null, ` + polygon + `}`), around},
		{coco(`{"image_id": 1, "category_id": 1, "bbox": [20, 20, 3, 0], ` + polygon + `}`), around},
		{coco(`{"image_id": 1.0, "category_id": 1.0, "bbox": ["10", "5", "60.0", 25]}`), around},
		{coco(`{"image_id": 1, "category_id": 1}`), "a.jpg#1 0,0,1,1 [fox] fox"},
		{coco(`{"image_id": 1, "category_id": 1, "bbox": []}`), "a.jpg#1 0,0,1,1 [fox] fox"},
		{coco(`{"image_id": 1, "category_id": 1, "segmentation": {"counts": "01", "size": []}}`),
			"a.jpg#1: it is drawn as a mask, and has neither a box nor a polygon"},
		{coco(`{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "iscrowd": 1}`),
			"a.jpg: it shows a crowd, in which the file has no single things"},
		{coco(`{"image_id": 1, "category_id": 7, "bbox": [1, 2, 3, 4]}`),
			"a.jpg#1: its category 7 has no name in the file"},
		{coco(`{"image_id": 1, "category_id": 1, "bbox": [1, 2, 0, 4]}`), "a.jpg#1: it has no area: 0 × 4"},
		{mega(`"detections": []`), "empty"},
		{mega(`"detections": [{"category": "1", "conf": 0.1, "bbox": [0, 0, 1, 1]}]`), "empty"},
		{mega(`"max_detection_conf": 0.1, "detections": []`), "empty"},
		{mega(`"max_detection_conf": 0.9, "detections": []`),
			"a.jpg: the detector saw something with a confidence of 0.9, but the file does not say where"},
		{mega(`"detections": [{"category": "1", "conf": NaN, "bbox": [0, 0, 1, 1]}]`),
			"a.jpg#1: its confidence is missing or not a number"},
		{mega(`"detections": [{"category": "9", "conf": 1, "bbox": [0, 0, 1, 1]}]`),
			"a.jpg#1: its category 9 has no name in the file"},
		{mega(`"detections": [{"category": "1", "conf": "0.9", "bbox": ["0", 0, 1, "1"]}]`),
			"a.jpg#1 0,0,1,1 [] animal"},
		{mega(`"failure": 7`), "a.jpg: the detector could not read it: 7"},
		{mega(`"failure": null, "detections": []`), "empty"},
		{mega(`"detections": "none"`), "a.jpg: its record in the file of boxes has a JSON string as detections"},
	} {
		text, want := test[0], test[1]
		got, found, err := boxesOf(t, text, dataset.BoxOptions{MinConfidence: 0.2}, "a.jpg")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if found.Empty() == 1 {
			got = append(got, "empty")
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestBoxesOfAnotherMachine: paths are matched by their ends, and names by their letters, unless that could
// make the photo of one folder that of another.
func TestBoxesOfAnotherMachine(t *testing.T) {
	here := []string{"st1/a.JPG", "st1/b.JPG", "st2/a.JPG"}
	for what, test := range map[string]struct {
		files, photos []string
		before        string
		labelled      int
	}{
		"the same":             {here, here, "", 3},
		"folder above":         {[]string{"2024/st1/a.JPG", "2024/st1/b.JPG", "2024/st2/a.JPG"}, here, "2024/", 3},
		"Linux":                {[]string{"/mnt/t/st1/a.JPG", "/mnt/t/st2/a.JPG"}, here, "/mnt/t/", 2},
		"Windows":              {[]string{`D:\\t\\st1\\a.JPG`, `D:\\t\\st2\\a.JPG`}, here, "D:/t/", 2},
		"some fit":             {[]string{"st1/a.JPG", "C:/x/st1/b.JPG", "C:/x/gone.JPG"}, here, "C:/x/", 2},
		"letters":              {[]string{"ST1/A.jpg", "st2/a.jpg"}, here, "./", 2},
		"letters and a folder": {[]string{"/T/ST1/A.jpg"}, here, "/T/", 1},
		"Label Studio":         {[]string{"../../data/local-files/?d=st1/a.JPG"}, here, "./", 1},
		"folder below": {[]string{"st1/a.JPG", "st1/c.JPG", "st2/a.JPG"}, []string{"a.JPG", "c.JPG"},
			"st1/", 2},
		"one folder or the other": {[]string{"st1/a.JPG", "st2/a.JPG"}, []string{"a.JPG"}, "", 0},
		"a gone photo's name":     {[]string{"b.JPG", "st1/a.JPG"}, []string{"a.JPG", "b.JPG"}, "", 1},
		"letters of two":          {[]string{"A.jpg", "b.jpg"}, []string{"a.jpg", "a.JPG", "b.jpg"}, "", 1},
	} {
		var records []string
		for _, file := range test.files {
			records = append(records, fmt.Sprintf(
				`{"file": "%s", "detections": [{"category": "1", "conf": 1, "bbox": [0, 0, 1, 1]}]}`, file))
		}
		text := `{"images": [` + strings.Join(records, ",") + `]}`
		lines, found, err := boxesOf(t, text, dataset.BoxOptions{}, test.photos...)
		if err != nil && test.labelled > 0 {
			t.Errorf("%s: %v", what, err)
		}
		if len(lines) != test.labelled || found.Before != test.before {
			t.Errorf("%s: %d boxes after %q, want %d after %q (%q)", what, len(lines), found.Before, test.labelled,
				test.before, lines)
		}
	}
}

// TestEncodingsOfBoxes: as lists, files of boxes are UTF-8 or UTF-16, with or without a byte order mark.
func TestEncodingsOfBoxes(t *testing.T) {
	const text = `{"images": [{"file": "a.jpg", "detections": []}]}`
	var wide []byte
	for _, c := range []byte(text) {
		wide = append(wide, c, 0)
	}
	for what, encoded := range map[string]string{
		"mark": "\ufeff" + text, "UTF-16": "\xff\xfe" + string(wide), "plain": text,
	} {
		if _, found, err := boxesOf(t, encoded, dataset.BoxOptions{}, "a.jpg"); err != nil || found.Empty() != 1 {
			t.Errorf("%s: %+v, %v", what, found, err)
		}
	}
}

// oriented is a JPEG of 40×20 pixels with an EXIF orientation.
func oriented(t *testing.T, orientation byte) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 20)), nil))
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
		must.Get(fmt.Sscanf(want, "%g,%g,%g,%g", &v[0], &v[1], &v[2], &v[3]))(t)
		box := fmt.Sprintf("%g,%g,%g,%g", v[0]*20, v[1]*40, v[2]*20, v[3]*40)
		got, _ = must.Get2(boxesBelow(t, root, file(20, 40, box), dataset.BoxOptions{}))(t)
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
	name := must.Get(json.Marshal(filepath.Join(root, "cafe\u0301", "a.jpg")))(t)
	got, _ := must.Get2(boxesBelow(t, root, `{"images": [{"file": `+string(name)+
		`, "detections": [{"category": "1", "conf": 1, "bbox": [0,0,1,1]}]}]}`, dataset.BoxOptions{}))(t)
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
		must.Do(f, os.WriteFile(filepath.Join(root, name), nil, 0o644))
	}
	photos := must.Get(dataset.Walk(context.Background(), root, dataset.ScanOptions{}))(f)
	file := filepath.Join(f.TempDir(), "boxes.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		must.Do(t, os.WriteFile(file, text, 0o644))
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
	must.Do(b, os.WriteFile(file, text.Bytes(), 0o644))
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		boxes := must.Get(dataset.ReadBoxes(file, "/photos", dataset.BoxOptions{}))(b)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc)-float64(before.HeapAlloc), "heap-B")
		runtime.KeepAlive(boxes)
	}
}
