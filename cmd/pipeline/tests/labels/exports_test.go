package labels_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// turned is a photo that is upright only by its EXIF orientation.
func turned(class string) []byte {
	const width, height = 64, 48
	photo := commandtest.PhotoOf(class, 99, width, height)
	return withEXIF(photo, "\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00")
}

// dated is a photo that says when it was taken, without a time zone.
func dated(class string, number int) []byte {
	const inEXIF, text = "\x00\x01\x87\x69\x00\x04\x00\x00\x00\x01\x00\x00\x00\x1a\x00\x00\x00\x00",
		"\x00\x01\x90\x03\x00\x02\x00\x00\x00\x14\x00\x00\x00\x2c\x00\x00\x00\x00"
	return withEXIF(commandtest.Photo(class, number, commandtest.SmallSide),
		inEXIF+text+fmt.Sprintf("2025:06:14 10:11:%02d\x00", number))
}

// withEXIF inserts the directories of a TIFF file, big-endian, into a JPEG file.
func withEXIF(photo []byte, directories string) []byte {
	exif := "Exif\x00\x00MM\x00*\x00\x00\x00\x08" + directories
	return slices.Concat(photo[:2], []byte{0xff, 0xe1, 0, byte(len(exif) + 2)}, []byte(exif), photo[2:])
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

// opened returns the class of every photo as the tools say, by folder and tool.
func opened(l *commandtest.Bed, modules []string, outs ...string) (classes map[string]map[string]map[string]string) {
	l.Helper()
	cmd := exec.Command(testenv.Python(l, modules...), append([]string{"testdata/opened.py"}, outs...)...)
	var stderr bytes.Buffer
	cmd.Stderr, cmd.Env = &stderr, append(l.Env, "HF_HOME="+l.Path("hf"))
	text, err := cmd.Output()
	if err != nil {
		l.Fatalf("%v\n%s", err, stderr.String())
	}
	must.Do(l, json.Unmarshal(text, &classes))
	return classes
}

// TestExportsAreOpened by the tools that they are for, which find the classes that the
// table has, in the same parts.
func TestExportsAreOpened(t *testing.T) {
	l := commandtest.New(t)
	splits := map[string]string{l.Path("whole"): "", l.Path("parts"): "60,20,20"}
	for out, split := range splits {
		exported(l, out, "--split", split)
	}
	found := opened(l, []string{"datasets", "pycocotools", "label_studio_converter"},
		slices.Collect(maps.Keys(splits))...)
	for out, split := range splits {
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
				place := file
				if !strings.HasPrefix(file, labels[i]+"/") {
					place = labels[i] + "/" + file
				}
				want["imagefolder"][part+" "+strings.ReplaceAll(place, "%", "%25")] = labels[i]
			}
			want["label_studio"][strings.ReplaceAll(name, "%E9", "\ufffd")] = ""
			if by[i] != "" {
				want["label_studio"][strings.ReplaceAll(name, "%E9", "\ufffd")] = labels[i]
			}
		}
		for tool, classes := range want {
			if !maps.Equal(found[out][tool], classes) {
				t.Errorf("split %q: %s says %v, want %v", split, tool, found[out][tool], classes)
			}
		}
	}
}

// TestCamtrapPackage is valid for frictionless, and comes back; a photo without a date is
// not in it, and that is said.
func TestCamtrapPackage(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	images := l.Path("cameras")
	for i, class := range []string{"kiwi", "lime", "plum"} {
		for n := range 3 {
			l.Write(filepath.Join(images, fmt.Sprint("station ", n), class+"_..1.jpg"), dated(class, 10*i+n))
		}
	}
	out := l.Path("out")
	label := []string{"label", model, "--images", images, "--out", out, "--format", "csv,camtrap-dp", "--reject", "0.2",
		"--events", "60", "--set", "label.deployments=" + l.Path("places.csv")}
	l.Write(l.Path("places.csv"), []byte("deploymentID,latitude,longitude\nstation 1,-1.5,35\nelsewhere,1,1\n"))
	l.Must(label...)
	rows, want := l.Table(out, "labels.csv"), map[string]string{}
	labels := commandtest.Column(t, rows, "label")
	for i, path := range commandtest.Column(t, rows, "path") {
		want[path] = labels[i]
	}
	rows = l.Table(out, "events.csv")
	shown := commandtest.Column(t, rows, "labels")
	for i, name := range commandtest.Column(t, rows, "event") {
		for k, class := range strings.Split(shown[i], ";") {
			want[fmt.Sprintf("event:%s/%d", name, k+1)] = class
		}
	}
	got := opened(l, []string{"frictionless"}, out)[out]["camtrap_dp"]
	if len(shown) == 0 || len(got) < 9+len(shown) || !maps.Equal(got, want) {
		t.Errorf("the package says %v, want %v", got, want)
	}
	rows = l.Table(out, "camtrap-dp", "deployments.csv")
	if got := commandtest.Column(t, rows, "latitude"); !slices.Equal(got, []string{"0", "-1.5", "0"}) {
		t.Errorf("deployments at %q", got)
	}
	back := []string{"train", "--list", l.Path("out", "camtrap-dp", "observations.csv"), "--images", images, "--out",
		l.Path("back.model")}
	l.Refused(command.ExitFailed, []string{"--predictions"}, back...)
	l.Must(append(back, "--predictions")...)
	l.Refused(command.ExitFailed, []string{"nowhere.csv"},
		"label", model, "--images", images, "--out", l.Path("none"), "--format", "camtrap-dp", "--set",
		"label.deployments=nowhere.csv")
	if l.Exists(l.Path("none")) {
		t.Error("a missing table is found out after work has begun")
	}
	l.Write(filepath.Join(images, "undated.jpg"), commandtest.Photo("kiwi", 100, commandtest.SmallSide))
	l.Expect(command.ExitPartial, label...)
	problems := string(l.Read(out, "errors.csv"))
	if !strings.Contains(problems, "undated.jpg,\"neither its EXIF, a list nor its name") {
		t.Errorf("errors.csv says %s", problems)
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

// TestLabelsAsList: of a table of labels that is divided, training learns what is decided or
// corrected in its part, and evaluating takes the rest.
func TestLabelsAsList(t *testing.T) {
	l := commandtest.New(t)
	images := l.Path("images")
	l.Photos(images, commandtest.SmallSide, 2, "kiwi", "lime")
	table := "path,label,probability,top_k,by,split\n"
	for i, by := range []string{"person", "", "list", "bulk"} {
		class, path := []string{"kiwi", "lime"}[i%2], []string{"kiwi/000", "lime/000", "lime/001", "kiwi/001"}[i]
		table += fmt.Sprintf("%s.jpg,%s,0.9,\"[[\"\"%s\"\",0.9]]\",%s,%s\n", path, class, "kiwi", by,
			[]string{"train", "train", "test", "train"}[i])
	}
	l.Write(l.Path("labels.csv"), []byte(table))
	list := []string{"--list", l.Path("labels.csv"), "--images", images}
	model := l.Path("a.model")
	run := l.Must(append([]string{"train", "--out", model}, list...)...)
	if !strings.Contains(run.Stdout, "2 samples of 2 classes") || !strings.Contains(run.Stderr, "column split") {
		t.Errorf("learned: %s%s", run.Stdout, run.Stderr)
	}
	got := l.Must(append([]string{"eval", model}, list...)...).Stdout
	if !strings.Contains(got, "images             1 ") {
		t.Errorf("evaluated: %s", got)
	}
	l.Refused(command.ExitUsage, []string{"--list"}, "train", "--images", images, "--predictions", "--out", model)
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
		{[]string{"camtrap-dp"}, []string{"--images", images, "--set", "label.deployments=places.csv"}},
		{[]string{"--split", "--shard"}, []string{"--images", images, "--split", "80,20", "--shard", "1/2"}},
	} {
		l.Refused(command.ExitUsage, c.words, append([]string{"label", model, "--out", out}, c.args...)...)
	}
	if l.Exists(out) {
		t.Error("a refused command leaves a folder")
	}
}
