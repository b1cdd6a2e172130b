package fscil

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// names returns class0 to class(n−1), one a line.
func names(n int) []byte {
	var names bytes.Buffer
	for i := range n {
		fmt.Fprintf(&names, "class%d\n", i)
	}
	return names.Bytes()
}

// cifar writes CIFAR-100 with one record per label.
func cifar(t *testing.T, train, test []byte) string {
	t.Helper()
	return files(t, map[string][]byte{"train.bin": records(2, train), "test.bin": records(2, test),
		"fine_label_names.txt": names(100)})
}

// cifar10 writes CIFAR-10 with one record per label, the training records spread
// over the five batches.
func cifar10(t *testing.T, train, test []byte) string {
	t.Helper()
	of := map[string][]byte{"test_batch.bin": records(1, test), "batches.meta.txt": names(10)}
	for i := range 5 {
		of[fmt.Sprintf("data_batch_%d.bin", i+1)] = records(1, train[i*len(train)/5:(i+1)*len(train)/5])
	}
	return files(t, of)
}

func files(t *testing.T, of map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range of {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	return dir
}

// records returns pictures whose red is the label, green the row and blue the
// column, after so many labels each.
func records(count int, labels []byte) []byte {
	var data []byte
	for _, label := range labels {
		data = append(data, append(make([]byte, count-1), label)...)
		for plane := range 3 {
			for i := range cifarSide * cifarSide {
				data = append(data, [3]byte{label, byte(i / cifarSide), byte(i % cifarSide)}[plane])
			}
		}
	}
	return data
}

func TestCIFAR(t *testing.T) {
	for name, dir := range map[string]string{"cifar100": cifar(t, []byte{7, 9, 7, 1, 1}, []byte{9, 7}),
		"cifar10": cifar10(t, []byte{7, 9, 7, 1, 1}, []byte{9, 7})} {
		t.Run(name, func(t *testing.T) { testCIFAR(t, name, dir) })
	}
}

func testCIFAR(t *testing.T, name, from string) {
	c := must.Get(ReadCIFAR(from))(t)
	if c.Name != name {
		t.Errorf("it is %s", c.Name)
	}
	l := &Lists{sessions: []listed{{[]string{"0", "2"}, []string{"1"}}, {[]string{"1"}, []string{"0"}}}}
	p := must.Get(l.Protocol(c.Locate))(t)
	dir := t.TempDir()
	for range 2 { // the second time everything is there
		must.Do(t, c.Extract(dir, p.Samples()))
	}
	f := must.Get(os.Open(filepath.Join(dir, "test", "class9", "00000.png")))(t)
	defer f.Close()
	img := must.Get(png.Decode(f))(t)
	if r, g, b, _ := img.At(5, 3).RGBA(); r>>8 != 9 || g>>8 != 3 || b>>8 != 5 {
		t.Errorf("pixel (5, 3) is %d %d %d", r>>8, g>>8, b>>8)
	}
	for _, line := range []string{"5", "-1", "x", ""} {
		if s, err := c.Locate(line, false); err == nil {
			t.Errorf("index %q became %v", line, s)
		}
	}
}

func TestCIFARMistakes(t *testing.T) {
	for name, archive := range map[string]string{"batches.meta": "cifar-10-binary.tar.gz",
		"meta": "cifar-100-binary.tar.gz"} {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte{0x80}, 0o644))
		if _, err := ReadCIFAR(dir); err == nil || !strings.Contains(err.Error(), "Python version") ||
			!strings.Contains(err.Error(), archive) {
			t.Errorf("pickled %s: %v, want %s", name, err, archive)
		}
	}
	if _, err := ReadCIFAR(t.TempDir()); err == nil || !strings.Contains(err.Error(), "train.bin") {
		t.Errorf("error %v", err)
	}
	if _, err := ReadCIFAR(cifar(t, []byte{100}, []byte{0})); err == nil ||
		!strings.Contains(err.Error(), "label 100") {
		t.Errorf("error %v", err)
	}
	dir := cifar(t, []byte{1}, []byte{2})
	must.Do(t, os.WriteFile(filepath.Join(dir, "test.bin"), make([]byte, cifarPicture+1), 0o644))
	if _, err := ReadCIFAR(dir); err == nil || !strings.Contains(err.Error(), "test.bin") {
		t.Errorf("error %v", err)
	}
	if _, err := ReadCIFAR(cifar10(t, []byte{1, 2, 3, 10, 5}, []byte{0})); err == nil ||
		!strings.Contains(err.Error(), "data_batch_4.bin: record 0 has the label 10") {
		t.Errorf("error %v", err)
	}
	dir = cifar10(t, []byte{1, 2, 3, 4, 5}, []byte{0})
	must.Do(t, os.Remove(filepath.Join(dir, "data_batch_3.bin")))
	if _, err := ReadCIFAR(dir); err == nil || !strings.Contains(err.Error(), "data_batch_3.bin") {
		t.Errorf("error %v", err)
	}
}

// FuzzCIFAR: any bytes are refused, or every record can be located and drawn.
func FuzzCIFAR(f *testing.F) {
	f.Add(records(1, []byte{3, 9}), byte(0))
	f.Add(records(2, []byte{99}), byte(1))
	f.Add([]byte{1}, byte(0))
	f.Fuzz(func(t *testing.T, data []byte, which byte) {
		l := cifarLayouts()[which%2]
		if l.check(data) != nil {
			return
		}
		c := &CIFAR{train: data, names: strings.Fields(string(names(l.classes))), labels: l.labels}
		for i := range c.count(data) {
			s := must.Get(c.Locate(strconv.Itoa(i), false))(t)
			if err := c.extract(filepath.Join(t.TempDir(), "x.png"), s.Path); err != nil {
				t.Error(err)
			}
		}
	})
}
