package matlab

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// scipyFiles hold the same variables, written by testdata/make_mat.py.
func scipyFiles() []string { return []string{"plain.mat", "compressed.mat"} }

func openTest(t testing.TB, name string) *File {
	t.Helper()
	f, err := Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// matrixOfScript is the 5×7 matrix in column-major order.
func matrixOfScript() []float64 {
	var m []float64
	for j := range 7 {
		for i := range 5 {
			m = append(m, 10*float64(i)+float64(j)/8)
		}
	}
	return m
}

func counted(n int) []float64 {
	var x []float64
	for i := range n {
		x = append(x, float64(i))
	}
	return x
}

// line is an array of one line of text.
func line(text string) Array {
	n := len([]rune(text))
	return Array{Class: Char, Dims: []int{1, n}, Text: []string{text}}
}

func row(class Class, x ...float64) Array {
	return Array{Class: class, Dims: []int{1, len(x)}, Numbers: x}
}

func expected() map[string]Array {
	return map[string]Array{
		"matrix":  {Class: Double, Dims: []int{5, 7}, Numbers: matrixOfScript()},
		"odd":     row(Double, math.Float64frombits(0x7ff8<<48), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 5e-324, math.MaxFloat64),
		"empty":   {Class: Double, Dims: []int{0, 3}},
		"scalar":  row(Double, 0.1),
		"cube":    {Class: Double, Dims: []int{2, 3, 4}, Numbers: counted(24)},
		"single":  {Class: Single, Dims: []int{2, 2}, Numbers: []float64{float64(float32(0.1)), 65504, -3.5, float64(float32(1e-40))}},
		"i8":      row("int8", -128, 0, 127),
		"u8":      row("uint8", 0, 255),
		"i16":     row("int16", -32768, 32767),
		"u16":     row("uint16", 0, 65535),
		"i32":     row("int32", math.MinInt32, math.MaxInt32),
		"u32":     row("uint32", 0, math.MaxUint32),
		"i64":     row("int64", math.MinInt64, 1<<53),
		"u64":     row("uint64", 0, 1<<63),
		"logical": {Class: Logical, Dims: []int{2, 2}, Numbers: []float64{1, 0, 0, 0}},
		"text":    line("a plain line of text"),
		"unicode": line("Zoë 鳥 🐦!"),
		"no_text": {Class: Char, Dims: []int{0, 0}},
		"rows":    {Class: Char, Dims: []int{3, 5}, Text: []string{"one  ", "two  ", "three"}},
		"cells":   {Class: Cell, Dims: []int{3, 1}, Cells: []Array{line("a/b.jpg"), {Class: Char, Dims: []int{0, 0}}, line("cä/d.jpg")}},
		"mixed": {Class: Cell, Dims: []int{2, 2}, Cells: []Array{
			row(Double, 1, 2),
			{Class: Cell, Dims: []int{2, 1}, Cells: []Array{line("inner"), row("int8", 7)}},
			line("x"), line("y"),
		}},
		"no_cells": {Class: Cell, Dims: []int{0, 0}},
	}
}

// sameArray compares bit by bit, NaN and -0 included.
func sameArray(a, b Array) bool {
	bits := func(x []float64) (u []uint64) {
		for _, v := range x {
			u = append(u, math.Float64bits(v))
		}
		return u
	}
	return a.Class == b.Class && slices.Equal(a.Dims, b.Dims) && slices.Equal(bits(a.Numbers), bits(b.Numbers)) &&
		slices.Equal(a.Text, b.Text) && slices.EqualFunc(a.Cells, b.Cells, sameArray)
}

func TestSciPyFiles(t *testing.T) {
	for _, name := range scipyFiles() {
		t.Run(name, func(t *testing.T) {
			f := openTest(t, name)
			want := expected()
			for variable, a := range want {
				got, err := f.Read(variable)
				if err != nil {
					t.Error(err)
				} else if !sameArray(got, a) {
					t.Errorf("%s: %+v, want %+v", variable, got, a)
				}
			}
			if n := len(want) + 4; len(f.Variables()) != n {
				t.Errorf("%d variables, want %d", len(f.Variables()), n)
			}
			for _, v := range f.Variables() {
				if a, ok := want[v.Name]; ok && (v.Class != a.Class || !slices.Equal(v.Dims, a.Dims)) {
					t.Errorf("listed as %+v, want %s %v", v, a.Class, a.Dims)
				}
			}
		})
	}
}

func TestUnreadVariables(t *testing.T) {
	for _, name := range scipyFiles() {
		f := openTest(t, name)
		for variable, word := range map[string]string{
			"too_large": "float64", "complex": "complex", "sparse": "class sparse", "struct": "class struct", "nothing": "there are matrix, odd",
		} {
			_, err := f.Read(variable)
			if err == nil || !strings.Contains(err.Error(), word) || !strings.Contains(err.Error(), "variable "+variable) {
				t.Errorf("%s, %s: %v", name, variable, err)
			}
			if errors.Is(err, ErrNoVariable) != (variable == "nothing") {
				t.Errorf("%s, %s: %v", name, variable, err)
			}
		}
	}
}

func TestColumns(t *testing.T) {
	for _, name := range scipyFiles() {
		f := openTest(t, name)
		var got []float64
		n := 0
		err := f.Columns("matrix", func(column []float64) error {
			n++
			got = append(got, column...)
			return nil
		})
		if err != nil || n != 7 || !slices.Equal(got, matrixOfScript()) {
			t.Errorf("%s: %v, %d columns %v", name, err, n, got)
		}
		stop := errors.New("stop")
		if err := f.Columns("matrix", func([]float64) error { return stop }); err != stop {
			t.Errorf("error of emit: %v", err)
		}
		never := func([]float64) error { t.Error("a column of nothing"); return nil }
		if err := f.Columns("empty", never); err != nil {
			t.Error(err)
		}
		for variable, word := range map[string]string{"cube": "matrix", "text": "class char", "complex": "real", "none": "no such variable"} {
			if err := f.Columns(variable, never); err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v", variable, err)
			}
		}
	}
}

func TestStrings(t *testing.T) {
	f := openTest(t, "compressed.mat")
	for variable, want := range map[string][]string{"cells": {"a/b.jpg", "", "cä/d.jpg"}, "no_cells": {}} {
		a, err := f.Read(variable)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := a.Strings(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %v", variable, got, err)
		}
	}
	for variable, words := range map[string][]string{"mixed": {"cell 1", "class double", "1×2"}, "text": {"class char"}} {
		a, err := f.Read(variable)
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Strings()
		for _, word := range words {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v", variable, err)
			}
		}
	}
	if _, err := (Array{Class: Cell, Cells: []Array{{Class: Char, Text: []string{"two", "rows"}, Dims: []int{2, 4}}}}).Strings(); err == nil {
		t.Error("two rows passed as one text")
	}
}

func TestOtherVersionsAndFiles(t *testing.T) {
	level4, err := os.ReadFile(filepath.Join("testdata", "level4.mat"))
	if err != nil {
		t.Fatal(err)
	}
	hdf5 := append([]byte("MATLAB 7.3 MAT-file, Platform: GLNXA64"), make([]byte, 600)...)
	version2 := make([]byte, 600)
	copy(version2, "no such text")
	copy(version2[124:], "\x00\x02IM")
	version9 := slices.Clone(version2)
	version9[125] = 9
	for name, c := range map[string]struct {
		data []byte
		word string
	}{
		"level 4":       {level4, "-v7"},
		"7.3":           {hdf5, "-v7"},
		"7.3 by number": {version2, "-v7"},
		"HDF5":          {[]byte("\x89HDF\r\n\x1a\n and so on"), "-v7"},
		"version 9":     {version9, "unknown version 0x0900"},
		"empty":         {nil, "not a MAT-file"},
		"zeros":         {make([]byte, 1000), "not a MAT-file"},
		"text":          {[]byte(strings.Repeat("path,label\n", 100)), "not a MAT-file"},
	} {
		path := filepath.Join(t.TempDir(), "x.mat")
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), c.word) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, path := range []string{t.TempDir(), "/nowhere/x.mat"} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
