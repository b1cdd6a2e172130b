package label

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// A number is the one that its printed digits are parsed as, to the last bit.
func TestRounded(t *testing.T) {
	check := func(x float64) {
		t.Helper()
		want := must.Get(strconv.ParseFloat(Digits(x), 64))(t)
		if got := rounded(x); math.Float64bits(float64(got)) != math.Float64bits(want) {
			t.Errorf("%v is rounded to %v, not %v", x, float64(got), want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		check(math.Pow(10, 3*rng.Float64()-5) * 20 * rng.Float64())
		m := float64(rng.IntN(10_000_000)) + 0.5 // halves, and what is next to them
		for _, x := range []float64{m / 1e7, m / 1e9} {
			check(x)
			check(math.Nextafter(x, 0))
			check(math.Nextafter(x, 1))
		}
	}
	for _, x := range []float64{0, math.Copysign(0, -1), 1, 10, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 0.99999999, 0.0999999999,
		-0.3, 1e300, 5e-324, math.Inf(1), math.Inf(-1), math.NaN()} {
		check(x)
	}
}

func TestNeutral(t *testing.T) {
	for cell, want := range map[string]string{
		"":                 "",
		"a.jpg":            "a.jpg",
		"a=b":              "a=b",
		"=cmd|' /C calc'!": "'=cmd|' /C calc'!",
		"+1":               "'+1",
		"-1":               "'-1",
		"@SUM(A1)":         "'@SUM(A1)",
		"\t=1":             "'\t=1",
		"\r=1":             "'\r=1",
		"\n=1":             "'\n=1",
		"'=1":              "''=1", // not the cell of "=1"
		"é":                "é",
	} {
		if got := dataset.SafeCell(cell); got != want {
			t.Errorf("dataset.SafeCell(%q) = %q, want %q", cell, got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for x, want := range map[number]string{
		0: "0", 1: "1", 0.1: "0.1", 1. / 3: "0.3333333", 1e-10: "1e-10", 123456789: "1.234568e+08", -0.5: "-0.5",
	} {
		text, err := json.Marshal(x)
		if err != nil || x.String() != want || string(text) != want {
			t.Errorf("%g: String %s, JSON %s (%v), want %s", float64(x), x, text, err, want)
		}
	}
}

func finish(o *output) error {
	_, err := o.commit()
	return err
}

// oddRow has every character that a format must take care of.
func oddRow(rejected bool) Row {
	var unseen *float64
	if rejected {
		unseen = new(0.875)
	}
	return newRow(Scored{Sample: dataset.Sample{Path: "=a,\"b\"\n\xe9<&.jpg"}, Rejected: rejected, New: unseen,
		Prediction: classifier.Prediction{
			Label: "cat, \"big\"", Probability: 0.75, Margin: 0.5, Entropy: 0.5623351446, Novelty: -1.5,
			TopK: []classifier.Ranked{{Label: "cat, \"big\"", Probability: 0.75}, {Label: "dog", Probability: 0.25}},
		}})
}

// A rejected row has no label and no probability of one; it keeps its novelty, and the
// nearest classes.
func TestFormatsOfARow(t *testing.T) {
	dir := t.TempDir()
	for format, want := range map[string]string{
		"csv": "path,label,probability,margin,entropy,novelty,rejected,top_k,p_new,by\n" +
			"\"'=a,\"\"b\"\"\n%E9<&.jpg\",\"cat, \"\"big\"\"\",0.75,0.5,0.5623351,-1.5,false,\"[[\"\"cat, " +
			"\\\"\"big\\\"\"\"\",0.75],[\"\"dog\"\",0.25]]\",,\n" +
			"\"'=a,\"\"b\"\"\n%E9<&.jpg\",,,,,-1.5,true,\"[[\"\"cat, " +
			"\\\"\"big\\\"\"\"\",0.75],[\"\"dog\"\",0.25]]\",0.875,\n",
		"jsonl": `{"path":"=a,\"b\"\n%E9<&.jpg","label":"cat, \"big\"","probability":0.75,"margin":0.5,` +
			`"entropy":0.5623351,"novelty":-1.5,"rejected":false,` +
			`"top_k":[["cat, \"big\"",0.75],["dog",0.25]],"p_new":null,"by":""}` + "\n" +
			`{"path":"=a,\"b\"\n%E9<&.jpg","label":"","probability":null,"margin":null,` +
			`"entropy":null,"novelty":-1.5,"rejected":true,` +
			`"top_k":[["cat, \"big\"",0.75],["dog",0.25]],"p_new":0.875,"by":""}` + "\n",
	} {
		o := must.Get(createOutput(dir, format, 0))(t)
		must.Do(t, errors.Join(o.write(oddRow(false)), o.write(oddRow(true)), finish(o)))
		got := must.Get(os.ReadFile(filepath.Join(dir, "labels."+format)))(t)
		if string(got) != want {
			t.Errorf("%s:\n%s\nwant\n%s", format, got, want)
		}
	}
}

func TestParquetReadsBack(t *testing.T) {
	dir := t.TempDir()
	o := must.Get(createOutput(dir, "parquet", 0))(t)
	for i := range 2*batchRows + 1 {
		must.Do(t, o.write(oddRow(i%2 == 1)))
	}
	must.Do(t, finish(o))
	rows, err := parquet.ReadFile[parquetRow](filepath.Join(dir, "labels.parquet"))
	if err != nil || len(rows) != 2*batchRows+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	probability, margin, entropy, unseen := number(0.75), number(0.5), number(0.5623351), number(0.875)
	want := parquetRow{
		Path: "=a,\"b\"\n%E9<&.jpg", Novelty: -1.5, Rejected: true,
		TopK: []pair{{"cat, \"big\"", 0.75}, {"dog", 0.25}}, New: &unseen,
	}
	if got := rows[1]; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	want.Label, want.Rejected, want.New = "cat, \"big\"", false, nil
	want.Probability, want.Margin, want.Entropy = &probability, &margin, &entropy
	if got := rows[2*batchRows]; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestParts: rows beyond the limit go to numbered files; a shorter second job
// removes the files that it does not need, and nothing else.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"labels-x.csv", "labels-3.txt", "labels-03.csv", "labels-2024.csv"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	for _, c := range []struct {
		rows int
		want string
	}{{7, "[labels.csv labels-2.csv labels-3.csv]"}, {6, "[labels.csv labels-2.csv]"}, {1, "[labels.csv]"},
		{0, "[labels.csv]"}} {
		o := must.Get(createOutput(dir, "csv", 3))(t)
		for range c.rows {
			must.Do(t, o.write(oddRow(true)))
		}
		names, err := o.commit()
		if err != nil || fmt.Sprint(names) != c.want {
			t.Errorf("%d rows: %v, %v; want %s", c.rows, names, err, c.want)
		}
		if found, err := filepath.Glob(filepath.Join(dir, "labels*")); err != nil || len(found) != len(names)+4 {
			t.Errorf("%d rows: %v, %v", c.rows, found, err)
		}
		summary := summarySink{dir: dir, sinks: []Sink{&tables{files: names}}, count: &Count{}}
		must.Do(t, summary.Commit(embedding.Outcome{}))
	}
}

// TestCSVCellsReadBack: a CSV reader gets each cell unchanged, top_k as JSON.
func TestCSVCellsReadBack(t *testing.T) {
	dir := t.TempDir()
	o := must.Get(createOutput(dir, "csv", 0))(t)
	must.Do(t, errors.Join(o.write(oddRow(true)), finish(o)))
	text := must.Get(os.ReadFile(filepath.Join(dir, "labels.csv")))(t)
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("%q, %v", rows, err)
	}
	if name := dataset.UnescapePath(strings.TrimPrefix(rows[1][0], "'")); name != "=a,\"b\"\n\xe9<&.jpg" {
		t.Errorf("path %q", name)
	}
	var ranked [][2]any
	if err := json.Unmarshal([]byte(rows[1][7]), &ranked); err != nil || len(ranked) != 2 ||
		ranked[1] != [2]any{"dog", 0.25} {
		t.Errorf("top_k %v, %v", ranked, err)
	}
}

// TestWriteErrorsSurface: a failed write is reported at the latest by commit,
// and the file then does not get its name.
func TestWriteErrorsSurface(t *testing.T) {
	for _, format := range tableFormats() {
		dir := t.TempDir()
		o := must.Get(createOutput(dir, format, 0))(t)
		if err := o.parts[0].file.Close(); err != nil { // as if the disk were gone
			t.Fatal(err)
		}
		if err := errors.Join(o.write(oddRow(true)), finish(o)); err == nil {
			t.Errorf("%s: no error", format)
		}
		o.abort()
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
			t.Errorf("%s: left %v (%v)", format, entries, err)
		}
	}
}

func TestWriteProblems(t *testing.T) {
	file := filepath.Join(t.TempDir(), "errors.csv")
	must.Do(t, WriteProblems(file, []dataset.Problem{
		{Path: "z.jpg", Err: errors.New("first line\nsecond \xff")},
		{Path: "@a.jpg", Err: errors.New("-1 bytes")},
	}))
	got := must.Get(os.ReadFile(file))(t)
	if want := "path,error\n'@a.jpg,'-1 bytes\nz.jpg,first line; second �\n"; string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestConfig(t *testing.T) {
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	for field, c := range map[string]Config{
		"format":        {TopK: 1, Thumbnails: 1},
		"rows_per_file": {Format: []string{"csv"}, TopK: 1, Thumbnails: 1, RowsPerFile: -1},
		"parqet":        {Format: []string{"parqet"}, TopK: 1, Thumbnails: 1},
		"top_k: 0":      {Format: []string{"csv"}, Thumbnails: 1},
		"reject: 1":     {Format: []string{"csv"}, TopK: 1, Thumbnails: 1, Reject: 1},
		"reject: -0.1":  {Format: []string{"csv"}, TopK: 1, Thumbnails: 1, Reject: -0.1},
		"thumbnails: 0": {Format: []string{"csv"}, TopK: 1},
		"organise":      {Format: []string{"csv"}, TopK: 1, Thumbnails: 1, Organise: "move"},
		"twice":         {Format: []string{"csv", "csv"}, TopK: 1, Thumbnails: 1},
		"reject: NaN":   {Format: []string{"csv"}, TopK: 1, Thumbnails: 1, Reject: nan()},
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%+v: %v, want %q", c, err, field)
		}
	}
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}
