package featdir

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// The files of a folder of texts; metaName is optional there, too.
const (
	textsName   = "texts.npy"
	classesName = "texts.csv"
)

// maxTexts bounds the texts of a folder, maxTextBytes the file that lists them.
const (
	maxTexts     = 1 << 20
	maxTextBytes = 256 << 20
)

// Texts are embeddings of texts that describe classes.
type Texts struct {
	// Classes has the class of each text, Texts its words.
	Classes, Texts []string
	// Rows are the embeddings.
	Rows       [][]float32
	Provenance embedding.Provenance
}

// ReadTexts reads a folder of texts: texts.npy (float32 or float16, n×d, C order),
// texts.csv (header class,text) and, if present, meta.json.
func ReadTexts(dir string) (Texts, error) {
	t, err := readTexts(dir)
	if err != nil {
		return Texts{}, fmt.Errorf("read texts %s: %w", dir, err)
	}
	return t, nil
}

func readTexts(dir string) (t Texts, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return t, regularfile.Cause(err)
	}
	if !info.IsDir() {
		return t, fmt.Errorf("not a folder with %s and %s", textsName, classesName)
	}
	m, err := readMeta(filepath.Join(dir, metaName))
	if err != nil {
		return t, fmt.Errorf("%s: %w", metaName, err)
	}
	if t.Classes, t.Texts, err = readClasses(filepath.Join(dir, classesName)); err != nil {
		return t, fmt.Errorf("%s: %w", classesName, err)
	}
	if t.Rows, err = readRows(filepath.Join(dir, textsName), len(t.Classes)); err != nil {
		return t, fmt.Errorf("%s: %w", textsName, err)
	}
	t.Provenance = m.Provenance
	d := len(t.Rows[0])
	if m.Dim != 0 && m.Dim != d {
		return t, fmt.Errorf("%s: dimension %d, %s says dimension %d", textsName, d, metaName, m.Dim)
	}
	return t, nil
}

// readClasses reads the columns class and text of a table.
func readClasses(path string) (classes, texts []string, err error) {
	f, size, err := openFile(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if size > maxTextBytes {
		return nil, nil, fmt.Errorf("%d bytes is too long", size)
	}
	r := csv.NewReader(f)
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil, errors.New("empty: the first line is class,text")
	}
	if err != nil {
		return nil, nil, err
	}
	column, words := slices.Index(header, "class"), slices.Index(header, "text")
	if column < 0 || words < 0 {
		return nil, nil, fmt.Errorf("the first line is %q, not class,text", header)
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		line, _ := r.FieldPos(0)
		switch name := row[column]; {
		case name == "" || !utf8.ValidString(name):
			return nil, nil, fmt.Errorf("line %d: the class %q is empty or not UTF-8", line, name)
		case len(classes) == maxTexts:
			return nil, nil, fmt.Errorf("more than %d texts", maxTexts)
		default:
			classes, texts = append(classes, name), append(texts, row[words])
		}
	}
	if len(classes) == 0 {
		return nil, nil, errors.New("there are no texts")
	}
	return classes, texts, nil
}

// readRows reads n embeddings.
func readRows(path string, n int) ([][]float32, error) {
	f, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, err := readNpyHeader(f, size)
	if err != nil {
		return nil, err
	}
	if h.n != n || h.d == 0 {
		return nil, fmt.Errorf("%d rows of %d values, but %s has %d texts", h.n, h.d, classesName, n)
	}
	if _, err := f.Seek(h.offset, io.SeekStart); err != nil {
		return nil, err
	}
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = make([]float32, h.d)
		if err := readNpyData(rows[i], f, h.itemBytes); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(rows[i], func(v float32) bool { return !finite(v) }) {
			continue
		}
		return nil, fmt.Errorf("row %d of %d has a value that is not a number or infinite", i+1, n)
	}
	return rows, nil
}

// ByClass returns the mean of the texts of each class, every text scaled to length 1.
func (t Texts) ByClass() (map[string][]float32, error) {
	out := map[string][]float32{}
	for i, name := range t.Classes {
		unit, ok := direction(t.Rows[i])
		if !ok {
			return nil, fmt.Errorf("text %d, of class %q, is zero", i+1, name)
		}
		sum := out[name]
		if sum == nil {
			sum = make([]float32, len(unit))
			out[name] = sum
		}
		for j, v := range unit {
			sum[j] += v
		}
	}
	for name, sum := range out {
		mean, ok := direction(sum)
		if !ok {
			return nil, fmt.Errorf("the texts of class %q cancel each other", name)
		}
		out[name] = mean
	}
	return out, nil
}

// direction returns v scaled to length 1, false for zero.
func direction(v []float32) ([]float32, bool) {
	var sq float64
	for _, x := range v {
		sq += float64(x) * float64(x)
	}
	if sq == 0 {
		return nil, false
	}
	out := make([]float32, len(v))
	for j, x := range v {
		out[j] = float32(float64(x) / math.Sqrt(sq))
	}
	return out, true
}
