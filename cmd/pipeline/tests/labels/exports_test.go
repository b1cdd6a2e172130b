package labels_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testenv"
)

// turned is a photo that is upright only by its EXIF orientation.
func turned(class string) []byte {
	const width, height = 64, 48
	exif := "Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01" +
		"\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
	photo := commandtest.PhotoOf(class, 99, width, height)
	var b bytes.Buffer
	b.Write(photo[:2])
	b.Write([]byte{0xff, 0xe1, 0, byte(len(exif) + 2)})
	b.WriteString(exif)
	b.Write(photo[2:])
	return b.Bytes()
}

// exported labels photos of known and unknown classes, in folders with hostile names, in
// every format.
func exported(l *commandtest.Bed, out string, args ...string) {
	l.Helper()
	model, images := l.Trained()
	for _, name := range []string{"test/new.jpg", "100 %/caf\xe9 & b.jpg", "train/upright.jpg"} {
		l.Write(l.Path("base", name), turned("fig"+name))
		if !strings.Contains(name, "upright") {
			l.Write(l.Path("base", name), commandtest.Photo("fig"+name, 1, commandtest.SmallSide))
		}
	}
	l.Must(append([]string{"label", model, "--images", images, "--out", out, "--reject", "0.02", "--format",
		"csv,jsonl,parquet,imagefolder,coco,label-studio"}, args...)...)
}

// TestExportsAreOpened by the tools that they are for, which find the classes that the
// table has, in the same parts.
func TestExportsAreOpened(t *testing.T) {
	python := testenv.Python(t, "datasets", "pycocotools", "label_studio_converter")
	l := commandtest.New(t)
	for _, split := range []string{"", "60,20,20"} {
		out := l.Path("out" + split)
		exported(l, out, "--split", split)
		cmd := exec.Command(python, "testdata/opened.py", out)
		var stderr bytes.Buffer
		cmd.Stderr, cmd.Env = &stderr, append(l.Env, "HF_HOME="+l.Path("hf"))
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, stderr.String())
		}
		var opened map[string]map[string]string
		if err := json.Unmarshal(text, &opened); err != nil {
			t.Fatal(err)
		}
		rows := l.Table(out, "labels.csv")
		labels, by := commandtest.Column(t, rows, "label"), commandtest.Column(t, rows, "by")
		want := map[string]map[string]string{"imagefolder": {}, "coco": {}, "label_studio": {}}
		for i, file := range commandtest.Column(t, rows, "path") {
			part := "train"
			if split != "" {
				part = commandtest.Column(t, rows, "split")[i]
			}
			name := part + " " + file
			want["coco"][name] = labels[i]
			if labels[i] != "" {
				want["imagefolder"][strings.ReplaceAll(name, "%", "%25")] = labels[i]
			}
			want["label_studio"][strings.ReplaceAll(name, "%E9", "\ufffd")] = ""
			if by[i] != "" {
				want["label_studio"][strings.ReplaceAll(name, "%E9", "\ufffd")] = labels[i]
			}
		}
		for tool, classes := range want {
			if !maps.Equal(opened[tool], classes) {
				t.Errorf("split %q: %s says %v, want %v", split, tool, opened[tool], classes)
			}
		}
	}
}

// TestExportsComeBack: a model that learns an export as a list exports the same bytes.
func TestExportsComeBack(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	version := regexp.MustCompile(`"model_version":"[^"]*"`)
	for format, file := range map[string]string{
		"csv": "labels.csv", "jsonl": "labels.jsonl", "parquet": "labels.parquet", "coco": "coco/instances.json",
		"label-studio": "label-studio/tasks.json", "imagefolder": "imagefolder/metadata.jsonl",
	} {
		out, again := l.Path("out "+format), l.Path("again "+format)
		l.Must("label", model, "--images", images, "--out", out, "--format", format)
		list := []string{"--list", l.Path("out "+format, file)}
		if format != "imagefolder" { // which has the photos, too
			list = append(list, "--images", images)
		}
		back := l.Path(format + ".model")
		l.Must(append([]string{"train", "--out", back}, list...)...)
		l.Must("label", back, "--images", images, "--out", again, "--format", format)
		want, got := l.Read(out, file), l.Read(again, file)
		if format == "label-studio" {
			want, got = version.ReplaceAll(want, nil), version.ReplaceAll(got, nil)
		}
		if !bytes.Equal(got, want) || !bytes.Contains(want, []byte("kiwi")) {
			t.Errorf("%s comes back as\n%.600s\nand was\n%.600s", file, got, want)
		}
	}
}

// TestExportsAreRefused where something is missing, before a photo is read.
func TestExportsAreRefused(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	out := l.Path("out")
	for _, c := range []struct{ words, args []string }{
		{[]string{"coco", "--images"}, []string{"--features", l.Path("features"), "--format", "csv,coco"}},
		{[]string{"yolo", "imagefolder"}, []string{"--images", images, "--format", "yolo"}},
		{[]string{"90", "80,20"}, []string{"--images", images, "--split", "80,10"}},
		{[]string{"--split", "--shard"}, []string{"--images", images, "--split", "80,20", "--shard", "1/2"}},
	} {
		l.Refused(command.ExitUsage, c.words, append([]string{"label", model, "--out", out}, c.args...)...)
	}
	if l.Exists(out) {
		t.Error("a refused command leaves a folder")
	}
}
