package main

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
)

// TestLabelFormats: both formats have the same content, in the order of paths.
func TestLabelFormats(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	l.photos(images, smallSide, 2, "Zoo", "a b", "été")
	out := l.path("out")
	l.must("label", model, "--images", images, "--out", out, "--format", "csv,jsonl", "--top-k", "2")
	rows := l.table(out, "labels.csv")
	if got := strings.Join(rows[0], ","); got != "path,label,probability,margin,entropy,novelty,rejected,top_k" {
		t.Errorf("header %s", got)
	}
	if paths := column(t, rows, "path"); len(paths) != 30 || !slices.IsSorted(paths) {
		t.Errorf("%d paths: %q", len(paths), paths)
	}
	scan := bufio.NewScanner(bytes.NewReader(l.read(out, "labels.jsonl")))
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
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return []string{
		r.Path, r.Label, r.Probability.String(), r.Margin.String(), r.Entropy.String(), r.Novelty.String(),
		strconv.FormatBool(r.Rejected), string(r.TopK),
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
	l := newTestbed(t)
	model, images := l.trained()
	l.write(filepath.Join(images, "bad.jpg"), []byte("no JPEG"))
	l.write(filepath.Join(images, "film.mp4"), []byte("film"))
	l.write(filepath.Join(images, "Thumbs.db"), []byte("thumbs"))
	out := l.path("out")
	l.refused(exitPartial, []string{"1 of the inputs failed", "errors.csv"}, "label", model, "--images", images, "--out", out)
	s := l.object(out, "summary.json")
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
	if rows := l.table(out, "errors.csv"); len(rows) != 2 || strings.Join(rows[0], ",") != "path,error" || rows[1][0] != "bad.jpg" {
		t.Errorf("errors.csv: %q", rows)
	}
}

// TestSecondRunInfersNothing, whatever changed about the files except their content.
func TestSecondRunInfersNothing(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	out := l.path("out")
	label := func() (cached, inferred int) {
		l.must("label", model, "--images", images, "--out", out)
		return l.timing(out, "cached"), l.timing(out, "inferred")
	}
	if cached, inferred := label(); cached != 24 || inferred != 0 {
		t.Errorf("after training on them: %d cached, %d inferred", cached, inferred)
	}
	first := l.read(out, "labels.csv")
	if err := os.Rename(filepath.Join(images, "kiwi"), filepath.Join(images, "kiwis")); err != nil {
		t.Fatal(err)
	}
	if _, inferred := label(); inferred != 0 {
		t.Errorf("after renaming a folder: %d inferred", inferred)
	}
	if want := bytes.ReplaceAll(first, []byte("\nkiwi/"), []byte("\nkiwis/")); !bytes.Equal(l.read(out, "labels.csv"), want) {
		t.Error("renaming a folder changed more than the paths")
	}
	l.write(filepath.Join(images, "lime", "new.jpg"), photo("lime", 99, smallSide))
	if cached, inferred := label(); cached != 24 || inferred != 1 {
		t.Errorf("with one new photo: %d cached, %d inferred", cached, inferred)
	}
}

// TestSameBytes: neither threads, nor the cache, nor the working folder, nor
// the way to the images change a byte of the model or of the labels.
func TestSameBytes(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	want := l.read(model)
	l.must("label", model, "--images", images, "--out", l.path("want"), "--format", "csv,jsonl", "--reject", "0.1")
	t.Chdir(l.path())
	for i, threads := range []string{"1", "4"} {
		cache := l.path("cold", threads)
		m, out := fmt.Sprintf("again%d.model", i), fmt.Sprintf("again%d", i)
		train := l.runWith(cache, "train", "--images", "base", "--out", m, "--threads", threads)
		label := l.runWith(cache, "label", m, "--images", filepath.Join(".", "base"), "--out", out, "--format", "jsonl,csv", "--reject", "0.1", "--threads", threads)
		if train.code != exitDone || label.code != exitDone {
			t.Fatalf("%s%s", train.stderr, label.stderr)
		}
		l.same("--threads "+threads, want, m)
		for _, name := range []string{"labels.csv", "labels.jsonl"} {
			l.same("--threads "+threads, l.read(l.path("want"), name), filepath.Join(out, name))
		}
	}
}

// TestOutputInsideImages: what the run itself writes is neither read nor
// counted, so the second run gives the same results as the first.
func TestOutputInsideImages(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	out, features := filepath.Join(images, "labels"), filepath.Join(images, "features")
	l.must("label", model, "--images", images, "--out", out, "--format", "csv,jsonl")
	first := l.summaryWithoutTiming(out)
	csv := l.read(out, "labels.csv")
	l.write(filepath.Join(out, "preview.jpg"), photo("kiwi", 50, smallSide))
	l.must("label", model, "--images", images, "--out", out, "--format", "csv,jsonl")
	if second := l.summaryWithoutTiming(out); second != first {
		t.Errorf("summary of the second run: %s\nof the first: %s", second, first)
	}
	l.same("the second run", csv, filepath.Join(out, "labels.csv"))
	l.must("embed", "--images", images, "--out", features)
	n := len(l.table(features, "samples.csv"))
	l.must("embed", "--images", images, "--out", features)
	if again := len(l.table(features, "samples.csv")); again != n {
		t.Errorf("embed: %d rows, then %d", n, again)
	}
}

func (l *testbed) summaryWithoutTiming(out string) string {
	l.Helper()
	s := l.object(out, "summary.json")
	delete(s, "timing")
	text, err := json.Marshal(s)
	if err != nil {
		l.Fatal(err)
	}
	return string(text)
}

// TestReject: the share of known images that is rejected is about the one asked
// for; without --reject none is.
func TestReject(t *testing.T) {
	l := newTestbed(t)
	images := l.photos(l.path("base"), smallSide, 40, "kiwi", "lime", "plum")
	model, out := l.path("m"), l.path("out")
	l.must("train", "--images", images, "--out", model)
	held := l.path("held")
	for _, class := range []string{"kiwi", "lime", "plum"} {
		for i := range 40 {
			l.write(filepath.Join(held, class, fmt.Sprintf("%d.jpg", i)), photo(class, 1000+i, smallSide))
		}
	}
	share := func(reject string) float64 {
		l.must("label", model, "--images", held, "--out", out, "--reject", reject)
		cells := column(t, l.table(out, "labels.csv"), "rejected")
		n := 0
		for _, cell := range cells {
			if cell == "true" {
				n++
			}
		}
		if s := l.object(out, "summary.json"); s["rejected"] != float64(n) {
			t.Errorf("summary says %v rejected, labels.csv %d", s["rejected"], n)
		}
		return float64(n) / float64(len(cells))
	}
	if got := share("0"); got != 0 {
		t.Errorf("without --reject %g are rejected", got)
	}
	// 120 images: three standard deviations of the share are 0.11 at 0.2, and
	// the threshold itself is estimated from as many.
	if got := share("0.2"); got < 0.04 || got > 0.36 {
		t.Errorf("with --reject 0.2 a share of %g is rejected", got)
	}
	if got := share("0.9"); got < 0.7 {
		t.Errorf("with --reject 0.9 a share of %g is rejected", got)
	}
}

// TestFormulasAreNeutralised in every cell that a spreadsheet would run.
func TestFormulasAreNeutralised(t *testing.T) {
	l := newTestbed(t)
	images := l.photos(l.path("base"), smallSide, 4, "=1+1", "@sum", "plum")
	l.write(filepath.Join(images, "-2+3.jpg"), photo("plum", 9, smallSide))
	l.write(filepath.Join(images, "+bad.jpg"), nil)
	model, out := l.path("m"), l.path("out")
	l.expect(exitPartial, "train", "--images", images, "--out", model)
	l.expect(exitPartial, "label", model, "--images", images, "--out", out, "--format", "csv,jsonl")
	for _, name := range []string{"labels.csv", "errors.csv"} {
		for _, row := range l.table(out, name) {
			for _, cell := range row[:2] {
				if cell == "" || strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
					t.Errorf("%s: cell %q", name, cell)
				}
			}
		}
	}
	if !bytes.Contains(l.read(out, "labels.jsonl"), []byte(`{"path":"-2+3.jpg"`)) {
		t.Error("labels.jsonl, which no spreadsheet opens, must hold the name as it is")
	}
}

// TestLists: a list selects and labels images; labels.csv can be used as one.
func TestLists(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	l.write(l.path("some.csv"), []byte("label,path\nred,plum/001.jpg\ngreen,lime/000.jpg\n,kiwi/000.jpg\ngreen,lime/404.jpg\n"))
	l.expect(exitPartial, "train", "--images", images, "--list", l.path("some.csv"), "--out", l.path("listed.model"), "--classifier", "ncm")
	if shown := l.must("inspect", l.path("listed.model")).stdout; !strings.Contains(shown, "2 classes from 2 samples") {
		t.Errorf("the listed model: %s", shown)
	}
	if rows := l.table(l.path("listed.model.errors.csv")); len(rows) != 2 || !strings.Contains(rows[1][1], "line 5") {
		t.Errorf("the missing file: %q", rows)
	}
	l.must("label", model, "--images", images, "--out", l.path("all"))
	l.must("label", model, "--images", images, "--list", l.path("all", "labels.csv"), "--out", l.path("again"))
	l.same("labels.csv as a list", l.read(l.path("all"), "labels.csv"), l.path("again", "labels.csv"))
}
