package labels

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestLabelFormats: both formats have the same content, in the order of paths.
func TestLabelFormats(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	l.Photos(images, commandtest.SmallSide, 2, "Zoo", "a b", "été")
	out := l.Path("out")
	l.Must("label", model, "--images", images, "--out", out, "--format", "csv,jsonl", "--top-k", "2")
	rows := l.Table(out, "labels.csv")
	const header = "path,label,probability,margin,entropy,novelty,rejected,top_k,p_new,by"
	if got := strings.Join(rows[0], ","); got != header {
		t.Errorf("header %s", got)
	}
	if paths := commandtest.Column(t, rows, "path"); len(paths) != 30 || !slices.IsSorted(paths) {
		t.Errorf("%d paths: %q", len(paths), paths)
	}
	scan := bufio.NewScanner(bytes.NewReader(l.Read(out, "labels.jsonl")))
	n := 1
	for ; scan.Scan(); n++ {
		if line := csvOfJSON(t, scan.Bytes()); !slices.Equal(line, rows[n]) {
			t.Errorf("row %d: csv %q, jsonl %q", n, rows[n], line)
		}
		checkRow(t, rows[n])
	}
	if n != len(rows) {
		t.Errorf("%d rows in csv, %d in jsonl", len(rows)-1, n-1)
	}
}

// csvOfJSON turns a line of labels.jsonl into the cells of labels.csv.
func csvOfJSON(t *testing.T, line []byte) []string {
	t.Helper()
	var r struct {
		Path, Label                           string
		Probability, Margin, Entropy, Novelty json.Number
		Rejected                              bool
		TopK                                  json.RawMessage `json:"top_k"`
		New                                   json.Number     `json:"p_new"`
		By                                    string
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return []string{
		r.Path, r.Label, r.Probability.String(), r.Margin.String(), r.Entropy.String(), r.Novelty.String(),
		strconv.FormatBool(r.Rejected), string(r.TopK), r.New.String(), r.By,
	}
}

// checkRow checks that the numbers of a row are consistent.
func checkRow(t *testing.T, row []string) {
	t.Helper()
	var ranked [][2]any
	if err := json.Unmarshal([]byte(row[7]), &ranked); err != nil || len(ranked) != 2 {
		t.Fatalf("top_k %s: %v", row[7], err)
	}
	first, second := ranked[0][1].(float64), ranked[1][1].(float64)
	figures := make([]float64, 4)
	for i := range figures {
		var err error
		if figures[i], err = strconv.ParseFloat(row[2+i], 64); err != nil {
			t.Fatal(err)
		}
	}
	probability, margin, entropy := figures[0], figures[1], figures[2]
	switch {
	case ranked[0][0] != row[1] || first != probability:
		t.Errorf("label %s at %g, best of top_k %v", row[1], probability, ranked[0])
	case first < second || math.Abs(first-second-margin) > 1e-6:
		t.Errorf("margin %g of %g and %g", margin, first, second)
	case probability < 1./3-1e-6 || probability > 1 || entropy < 0 || entropy > math.Log(3)+1e-6:
		t.Errorf("probability %g, entropy %g among three classes", probability, entropy)
	}
}

// TestSummary: the keys of summary.json, and the files next to it.
func TestSummary(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	l.Write(filepath.Join(images, "bad.jpg"), []byte("no JPEG"))
	l.Write(filepath.Join(images, "film.mp4"), []byte("film"))
	l.Write(filepath.Join(images, "Thumbs.db"), []byte("thumbs"))
	out := l.Path("out")
	l.Refused(command.ExitPartial, []string{"1 of the inputs failed", "errors.csv"}, "label", model, "--images", images,
		"--out", out)
	s := l.Object(out, "summary.json")
	for key, want := range map[string]any{"labelled": 24., "failed": 1., "rejected": 0.} {
		if s[key] != want {
			t.Errorf("%s = %v, want %v", key, s[key], want)
		}
	}
	if got := fmt.Sprint(s["skipped"]); got != "map[system:1 video:1]" {
		t.Errorf("skipped %s", got)
	}
	for _, key := range []string{"model", "backbone", "extractor", "preprocess"} {
		if hash, _ := s["hashes"].(map[string]any)[key].(string); len(hash) != 64 {
			t.Errorf("hash of the %s: %q", key, hash)
		}
	}
	for _, key := range []string{"seconds", "images_per_second", "cached", "inferred", "read"} {
		if _, ok := s["timing"].(map[string]any)[key].(float64); !ok {
			t.Errorf("timing has no %s", key)
		}
	}
	if _, ok := s["settings"].(map[string]any); !ok {
		t.Error("no settings")
	}
	if rows := l.Table(out, "errors.csv"); len(rows) != 2 || strings.Join(rows[0], ",") != "path,error" ||
		rows[1][0] != "bad.jpg" {
		t.Errorf("errors.csv: %q", rows)
	}
}

// TestSecondRunInfersNothing, whatever changed about the files except their content.
func TestSecondRunInfersNothing(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	q := pipeline.NewLabelRequest(model, pipeline.Folder(images), l.Path("out"))
	label := func(what string, cached, inferred int) {
		t.Helper()
		r := must.Get(l.Studio().Label(t.Context(), q))(t).Timing
		if r.Cached != cached || r.Inferred != inferred {
			t.Errorf("%s: %d cached, %d inferred", what, r.Cached, r.Inferred)
		}
	}
	label("after training on them", 24, 0)
	first := l.Read(q.Out, "labels.csv")
	must.Do(t, os.Rename(filepath.Join(images, "kiwi"), filepath.Join(images, "kiwis")))
	label("after renaming a folder", 24, 0)
	if want := bytes.ReplaceAll(first, []byte("\nkiwi/"), []byte("\nkiwis/")); !bytes.Equal(l.Read(q.Out, "labels.csv"),
		want) {
		t.Error("renaming a folder changed more than the paths")
	}
	l.Write(filepath.Join(images, "lime", "new.jpg"), commandtest.Photo("lime", 99, commandtest.SmallSide))
	label("with one new photo", 24, 1)
}

// TestSameBytes: neither threads, nor the cache, nor the working folder, nor
// the way to the images change a byte of the model or of the labels.
func TestSameBytes(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	want := l.Read(model)
	l.Must("label", model, "--images", images, "--out", l.Path("want"), "--format", "csv,jsonl", "--reject", "0.1")
	t.Chdir(l.Path())
	for i, threads := range []string{"1", "4"} {
		cache := l.Path("cold", threads)
		m, out := fmt.Sprintf("again%d.model", i), fmt.Sprintf("again%d", i)
		train := l.RunWith(cache, "train", "--images", "base", "--out", m, "--threads", threads)
		label := l.RunWith(cache, "label", m, "--images", filepath.Join(".", "base"), "--out", out, "--format",
			"jsonl,csv", "--reject", "0.1", "--threads", threads)
		if train.Code != command.ExitDone || label.Code != command.ExitDone {
			t.Fatalf("%s%s", train.Stderr, label.Stderr)
		}
		l.Same("--threads "+threads, want, m)
		for _, name := range []string{"labels.csv", "labels.jsonl"} {
			l.Same("--threads "+threads, l.Read(l.Path("want"), name), filepath.Join(out, name))
		}
	}
}

// TestOutputInsideImages: what the run itself writes is neither read nor
// counted, so the second run gives the same results as the first.
func TestOutputInsideImages(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	out, features := filepath.Join(images, "labels"), filepath.Join(images, "features")
	l.Must("label", model, "--images", images, "--out", out, "--format", "csv,jsonl")
	first := l.SummaryWithoutTiming(out)
	csv := l.Read(out, "labels.csv")
	l.Write(filepath.Join(out, "preview.jpg"), commandtest.Photo("kiwi", 50, commandtest.SmallSide))
	l.Must("label", model, "--images", images, "--out", out, "--format", "csv,jsonl")
	if second := l.SummaryWithoutTiming(out); second != first {
		t.Errorf("summary of the second run: %s\nof the first: %s", second, first)
	}
	l.Same("the second run", csv, filepath.Join(out, "labels.csv"))
	l.Must("embed", "--images", images, "--out", features)
	n := len(l.Table(features, "samples.csv"))
	l.Must("embed", "--images", images, "--out", features)
	if again := len(l.Table(features, "samples.csv")); again != n {
		t.Errorf("embed: %d rows, then %d", n, again)
	}
}

// TestReject: the share of known images that is rejected is about the one asked
// for; without a share none is.
func TestReject(t *testing.T) {
	l := commandtest.New(t)
	classes := []string{"kiwi", "lime", "plum"}
	s, file := l.Studio(), l.Path("m")
	shown := pipeline.Folder(l.Photos(l.Path("base"), commandtest.SmallSide, 40, classes...))
	must.Get2(s.Train(t.Context(), shown, pipeline.Into(file)))(t)
	for _, class := range classes {
		for i := range 40 {
			l.Write(l.Path("held", class, fmt.Sprintf("%d.jpg", i)),
				commandtest.Photo(class, 1000+i, commandtest.SmallSide))
		}
	}
	// 120 images: three standard deviations of the share are 0.11 at 0.2, and
	// the threshold itself is estimated from as many.
	for _, c := range []struct{ asked, least, most float64 }{{0, 0, 0}, {0.2, 0.04, 0.36}, {0.9, 0.7, 1}} {
		q := pipeline.NewLabelRequest(file, pipeline.Folder(l.Path("held")), l.Path("out"))
		q.Settings.Reject = c.asked
		r := must.Get(s.Label(t.Context(), q))(t)
		rows := commandtest.Column(t, l.Table(q.Out, "labels.csv"), "rejected")
		rejected := strings.Count(strings.Join(rows, " "), "true")
		share := float64(r.Rejected) / float64(r.Labelled)
		if rejected != r.Rejected || share < c.least || share > c.most {
			t.Errorf("with %g a share of %g is rejected, in labels.csv %d of %d", c.asked, share, rejected, len(rows))
		}
	}
}

// TestFormulasAreNeutralised in every cell that a spreadsheet would run.
func TestFormulasAreNeutralised(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("base"), commandtest.SmallSide, 4, "=1+1", "@sum", "plum")
	l.Write(filepath.Join(images, "-2+3.jpg"), commandtest.Photo("plum", 9, commandtest.SmallSide))
	l.Write(filepath.Join(images, "+bad.jpg"), nil)
	model, out := l.Path("m"), l.Path("out")
	l.Expect(command.ExitPartial, "train", "--images", images, "--out", model)
	l.Expect(command.ExitPartial, "label", model, "--images", images, "--out", out, "--format", "csv,jsonl")
	for _, name := range []string{"labels.csv", "errors.csv"} {
		for _, row := range l.Table(out, name) {
			for _, cell := range row[:2] {
				if cell == "" || strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
					t.Errorf("%s: cell %q", name, cell)
				}
			}
		}
	}
	if !bytes.Contains(l.Read(out, "labels.jsonl"), []byte(`{"path":"-2+3.jpg"`)) {
		t.Error("labels.jsonl, which no spreadsheet opens, must hold the name as it is")
	}
}

// TestLists: a list selects and labels images; labels.csv can be used as one.
func TestLists(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	l.Write(l.Path("some.csv"),
		[]byte("label,path\nred,plum/001.jpg\ngreen,lime/000.jpg\n,kiwi/000.jpg\ngreen,lime/404.jpg\n"))
	l.Expect(command.ExitPartial, "train", "--images", images, "--list", l.Path("some.csv"), "--out",
		l.Path("listed.model"), "--classifier", "ncm")
	if shown := l.Must("inspect", l.Path("listed.model")).Stdout; !strings.Contains(shown, "2 classes from 2 samples") {
		t.Errorf("the listed model: %s", shown)
	}
	if rows := l.Table(l.Path("listed.model.errors.csv")); len(rows) != 2 || !strings.Contains(rows[1][1], "line 5") {
		t.Errorf("the missing file: %q", rows)
	}
	l.Must("label", model, "--images", images, "--out", l.Path("all"))
	l.Must("label", model, "--images", images, "--list", l.Path("all", "labels.csv"), "--out", l.Path("again"))
	l.Same("labels.csv as a list", l.Read(l.Path("all"), "labels.csv"), l.Path("again", "labels.csv"))
}
