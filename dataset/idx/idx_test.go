package idx_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset/idx"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// file returns an IDX file of the given shape whose values count up.
func file(shape ...int) []byte {
	b := []byte{0, 0, 8, byte(len(shape))}
	n := 1
	for _, s := range shape {
		b = binary.BigEndian.AppendUint32(b, uint32(s))
		n *= s
	}
	for i := range n {
		b = append(b, byte(i))
	}
	return b
}

func zipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	must.Get(w.Write(b))(t)
	must.Do(t, w.Close())
	return buf.Bytes()
}

func TestRead(t *testing.T) {
	for _, b := range [][]byte{file(2, 3, 2), zipped(t, file(2, 3, 2))} {
		a, err := idx.Read(bytes.NewReader(b))
		if err != nil || !slices.Equal(a.Shape, []int{2, 3, 2}) || len(a.Data) != 12 || a.Data[11] != 11 {
			t.Errorf("%+v, %v", a, err)
		}
	}
	if a, err := idx.Read(bytes.NewReader(file(0, 3))); err != nil || len(a.Data) != 0 {
		t.Errorf("nothing: %+v, %v", a, err)
	}
}

func TestReadRefuses(t *testing.T) {
	whole := file(2, 3)
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"empty": {nil, "header"}, "magic": {[]byte("PNG and more"), "not an IDX"},
		"type":          {[]byte{0, 0, 13, 1, 0, 0, 0, 1}, "unsigned bytes"},
		"no dimensions": {[]byte{0, 0, 8, 0}, "dimensions"}, "dimensions": {[]byte{0, 0, 8, 9}, "dimensions"},
		"half a header": {whole[:9], "header"},
		"short":         {whole[:len(whole)-1], "there are 5"},
		"long":          {append(slices.Clone(whole), 1), "there are more"},
		"huge":          {[]byte{0, 0, 8, 2, 255, 255, 255, 255, 255, 255, 255, 255}, "more than"},
		"promises":      {[]byte{0, 0, 8, 1, 127, 255, 255, 255}, "there are 0"},
		"bad gzip":      {[]byte{0x1f, 0x8b, 1}, "EOF"}, "cut gzip": {zipped(t, whole)[:20], "EOF"},
	} {
		if _, err := idx.Read(bytes.NewReader(c.b)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(dir, name), b, 0o644))
	}
	if _, err := idx.Load(dir, idx.Train); !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "train-images-idx3-ubyte") {
		t.Error(err)
	}
	write("train-images-idx3-ubyte.gz", zipped(t, file(3, 2, 2)))
	write("train-labels.idx1-ubyte", file(3))
	l, err := idx.Load(dir, idx.Train)
	if err != nil || l.Pixels != 4 || !slices.Equal(l.Labels, []byte{0, 1, 2}) {
		t.Errorf("%+v, %v", l, err)
	}
	write("t10k-images-idx3-ubyte", file(3, 2, 2))
	write("t10k-labels-idx1-ubyte", file(4))
	if _, err := idx.Load(dir, idx.Test); err == nil {
		t.Error("three images with four labels were taken")
	}
	write("t10k-labels-idx1-ubyte", []byte("damaged"))
	if _, err := idx.Load(dir, idx.Test); err == nil || !strings.Contains(err.Error(), "t10k-labels") {
		t.Errorf("the error does not name the file: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(file(2, 3))
	f.Add(zipped(f, file(1, 1, 2)))
	f.Add([]byte{0, 0, 8, 2, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := idx.Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		n := 1
		for _, s := range a.Shape {
			n *= s
		}
		if n != len(a.Data) {
			t.Errorf("shape %v with %d bytes", a.Shape, len(a.Data))
		}
	})
}
