package photos

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// TestFoldersAsPeopleHaveThem: what is no photo is said by suffix, and what is no class
// by name.
func TestFoldersAsPeopleHaveThem(t *testing.T) {
	l := commandtest.New(t)
	photos := l.Photos(l.Path("photos"), 40, 3, "kiwi", "plum", "$RECYCLE.BIN", ".thumbnails")
	for _, file := range []string{"kiwi/a.NEF", "kiwi/b.NEF", "plum/c.mov", "notes/d.txt", "plum/e.docx"} {
		l.Write(l.Path("photos", file), []byte("II*\x00"[:3]))
	}
	for i, file := range []string{"kiwi/a.JPG", "kiwi/b.jpg"} { // which the camera wrote with its raw photos
		l.Write(l.Path("photos", file), commandtest.Photo("kiwi", 10+i, 40))
	}
	l.Write(l.Path("photos", "kiwi", "camera.hxf"), commandtest.Photo("kiwi", 9, 40))
	r := l.Must("train", "--images", photos, "--out", l.Path("model"))
	for _, said := range []string{
		"9 samples of 2 classes", `suffixes="2 .nef, 1 .docx, 1 .mov, 1 .txt"`, `of the same name are skipped" files=2`,
		`such_as="$RECYCLE.BIN, .thumbnails"`, `without photos are no classes" folders=1 such_as=notes`,
	} {
		if !strings.Contains(r.Stdout+r.Stderr, said) {
			t.Errorf("train does not say %q:\n%s%s", said, r.Stdout, r.Stderr)
		}
	}
}

// TestCaseOfCameraSuffix: files that a camera calls .HIF are photos.
func TestCaseOfCameraSuffix(t *testing.T) {
	l := commandtest.New(t)
	photos := shared.Path(t, "cases", "12-hif-suffix", "photos")
	r := l.Must("train", "--images", photos, "--out", l.Path("model"))
	if !strings.Contains(r.Stdout, "6 samples of 2 classes") {
		t.Errorf("train says\n%s%s", r.Stdout, r.Stderr)
	}
}

// embedded returns the embeddings of a folder, by path.
func embedded(t *testing.T, l *commandtest.Bed, images string) (map[string][]float32, commandtest.Result) {
	t.Helper()
	out := l.Path("features")
	r := l.Run("embed", "--images", images, "--out", out)
	return features(t, out), r
}

// TestCaseOfOrientation: the same picture lies on its side in all files, which say so in
// different places.
func TestCaseOfOrientation(t *testing.T) {
	l := commandtest.New(t)
	vectors, _ := embedded(t, l, shared.Path(t, "cases", "05-orientation-elsewhere", "in"))
	for name, v := range vectors {
		if c := cosine(v, vectors["exif_le.jpg"]); c < 0.99 {
			t.Errorf("%s: cosine %.4f to the one with EXIF", name, c)
		}
	}
	if len(vectors) != 5 {
		t.Errorf("%d photos were read, want 5", len(vectors))
	}
}

// TestCaseOfSixteenBits: a photo that is nearly black is remarked on.
func TestCaseOfSixteenBits(t *testing.T) {
	l := commandtest.New(t)
	_, r := embedded(t, l, shared.Path(t, "cases", "06-sixteen-bit", "in"))
	for _, said := range []string{"nearly black", "sBIT", "photos=1", "first=grey12in16.png"} {
		if !strings.Contains(r.Stderr, said) {
			t.Errorf("embed does not say %q:\n%s", said, r.Stderr)
		}
	}
}

// classesOf returns the classes of a model.
func classesOf(l *commandtest.Bed, model string) (names []string) {
	l.Helper()
	var inspected struct {
		Classes []struct{ Class string }
	}
	must.Do(l, json.Unmarshal([]byte(l.Must("inspect", model, "--json").Stdout), &inspected))
	for _, c := range inspected.Classes {
		names = append(names, c.Class)
	}
	slices.Sort(names)
	return names
}

// TestCasesOfNames: labels.csv and rank.csv, used as lists, give the classes from which
// they come.
func TestCasesOfNames(t *testing.T) {
	for folder, want := range map[string][]string{
		"18-formula-names": {"+plus", "-", "@home", "plain"}, "19-hash-names": {"#1 panda", "pizza"},
	} {
		l := commandtest.New(t)
		photos := shared.Path(t, "cases", folder, "photos")
		l.Must("train", "--images", photos, "--out", l.Path("model"))
		l.Must("label", l.Path("model"), "--images", photos, "--out", l.Path("labels"))
		l.Must("rank", l.Path("model"), "--images", photos, "--by", "label-error", "--out", l.Path("rank.csv"))
		for list, column := range map[string]string{"labels/labels.csv": "label", "rank.csv": "given"} {
			l.Must("train", "--images", photos, "--list", l.Path(list), "--label-column", column,
				"--out", l.Path("again"))
			if got := classesOf(l, l.Path("again")); !slices.Equal(got, want) {
				t.Errorf("%s: classes of %s are %q, want %q", folder, list, got, want)
			}
		}
	}
}

// TestCaseOfChannelsLast: a network that takes colours first and gives a map with channels
// last is read like the same network with a pooled output, also by a model.
func TestCaseOfChannelsLast(t *testing.T) {
	l := commandtest.New(t)
	dir := shared.Path(t, "cases", "29-channels-last-map")
	photos, vectors := filepath.Join(dir, "photos"), map[string]map[string][]float32{}
	for _, name := range []string{"plain", "nchw_in_nhwc_map"} {
		l.Must("embed", "--images", photos, "--backbone", filepath.Join(dir, name+".onnx"), "--out", l.Path(name))
		vectors[name] = features(t, l.Path(name))
	}
	for path, v := range vectors["plain"] {
		if c := cosine(v, vectors["nchw_in_nhwc_map"][path]); c < 0.9999 {
			t.Errorf("%s: cosine %.4f of the map to the vector", path, c)
		}
	}
	backbone := filepath.Join(dir, "nchw_in_nhwc_map.onnx")
	l.Photos(l.Path("fruit"), 40, 2, "kiwi", "plum")
	l.Must("train", "--images", l.Path("fruit"), "--backbone", backbone, "--out", l.Path("model"))
	l.Must("label", l.Path("model"), "--images", l.Path("fruit"), "--out", l.Path("labels"))
	r := l.Must("backbones", "inspect", backbone)
	if !strings.Contains(r.Stdout, "a map of 24 channels (hwc") || !strings.Contains(r.Stdout, "looks right") {
		t.Errorf("inspect says\n%s", r.Stdout)
	}
}

// TestCaseOfCombinedCLIP: the image side of a graph of two is found, and can be named.
func TestCaseOfCombinedCLIP(t *testing.T) {
	l := commandtest.New(t)
	dir := shared.Path(t, "cases", "26-clip-combined")
	clip := filepath.Join(dir, "clip_combined.onnx")
	embed := []string{"embed", "--images", filepath.Join(dir, "photos"), "--backbone", clip}
	l.Must(append(embed, "--out", l.Path("found"))...)
	l.Must(append(embed, "--out", l.Path("named"), "--set", "extractor.input=pixel_values", "--set",
		"extractor.output=image_embeds")...)
	found, named := features(t, l.Path("found")), features(t, l.Path("named"))
	for path, v := range found {
		if !slices.Equal(v, named[path]) || len(v) != 24 {
			t.Errorf("%s: %d values, or others than if named", path, len(v))
		}
	}
	l.Refused(command.ExitFailed, []string{"extractor.output", "image_embeds"},
		append(embed, "--out", l.Path("text"), "--set", "extractor.output=text_embeds")...)
	l.Photos(l.Path("fruit"), 40, 2, "kiwi", "plum")
	l.Must("train", "--images", l.Path("fruit"), "--backbone", clip, "--out", l.Path("model"))
	l.Must("export", l.Path("model"), "--onnx", l.Path("whole.onnx"), "--with-backbone")
	whole, err := onnx.Parse(l.Read(l.Path("whole.onnx")))
	if err != nil || len(whole.Inputs) != 1 || whole.Inputs[0].Name != "pixel_values" {
		t.Errorf("the exported model takes %v, %v", onnx.Names(whole.Inputs), err)
	}
}
