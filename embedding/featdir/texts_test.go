package featdir

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// textFolder writes a folder of n texts of two values.
func textFolder(t *testing.T, classes string, values ...float32) string {
	t.Helper()
	dir := t.TempDir()
	data := formatNpyHeader(len(values)/2, 2)
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	for name, content := range map[string][]byte{textsName: data, classesName: []byte(classes)} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), content, 0o644))
	}
	return dir
}

// TestTexts: columns are found by name, and a class has the mean of the directions of its
// texts.
func TestTexts(t *testing.T) {
	classes := "text,class\n\"a dog, asleep\",dog\na cat,cat\nhound,dog\n"
	texts := must.Get(ReadTexts(textFolder(t, classes, 5, 0, 0, 1, 0, 2)))(t)
	if want := []string{"dog", "cat", "dog"}; !slices.Equal(texts.Classes, want) {
		t.Errorf("classes %v, want %v", texts.Classes, want)
	}
	got := must.Get(texts.ByClass())(t)
	h := float32(math.Sqrt(0.5))
	if len(got) != 2 || !slices.Equal(got["cat"], []float32{0, 1}) || !slices.Equal(got["dog"], []float32{h, h}) {
		t.Errorf("%v", got)
	}
}

func TestTextsThatAreRefused(t *testing.T) {
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		classes string
		values  []float32
		says    string
	}{
		"header":  {"name,text\na,b\n", []float32{1, 2}, "not class,text"},
		"empty":   {"", []float32{1, 2}, "the first line is class,text"},
		"none":    {"class,text\n", nil, "no texts"},
		"count":   {"class,text\na,x\nb,y\n", []float32{1, 2}, "1 rows of 2 values, but texts.csv has 2 texts"},
		"class":   {"class,text\n,x\n", []float32{1, 2}, "line 2"},
		"UTF-8":   {"class,text\n\xff,x\n", []float32{1, 2}, "not UTF-8"},
		"NaN":     {"class,text\na,x\n", []float32{nan, 2}, "row 1 of 1"},
		"columns": {"class,text\na\n", []float32{1, 2}, "wrong number of fields"},
	} {
		_, err := ReadTexts(textFolder(t, c.classes, c.values...))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if _, err := ReadTexts(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that is not there was read")
	}
	for _, values := range [][]float32{{0, 0, 1, 0}, {1, 0, -1, 0}} {
		texts := must.Get(ReadTexts(textFolder(t, "class,text\na,x\na,y\n", values...)))(t)
		if got, err := texts.ByClass(); err == nil {
			t.Errorf("%v: %v", values, got)
		}
	}
}
