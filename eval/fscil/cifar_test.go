package fscil

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cifar writes a data set with one record per label.
func cifar(t *testing.T, train, test []byte) string {
	t.Helper()
	dir := t.TempDir()
	var names bytes.Buffer
	for i := range cifarClasses {
		fmt.Fprintf(&names, "class%d\n", i)
	}
	for name, data := range map[string][]byte{"train.bin": records(train), "test.bin": records(test), "fine_label_names.txt": names.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// records returns pictures whose red is the label, green the row and blue the
// column.
func records(labels []byte) []byte {
	var data []byte
	for _, label := range labels {
		data = append(data, 0, label)
		for plane := range 3 {
			for i := range cifarSide * cifarSide {
				data = append(data, [3]byte{label, byte(i / cifarSide), byte(i % cifarSide)}[plane])
			}
		}
	}
	return data
}

func TestCIFAR100(t *testing.T) {
	c, err := ReadCIFAR100(cifar(t, []byte{7, 9, 7}, []byte{9, 7}))
	if err != nil {
		t.Fatal(err)
	}
	l := &Lists{sessions: []listed{{[]string{"0", "2"}, []string{"1"}}, {[]string{"1"}, []string{"0"}}}}
	p, err := l.Protocol(c.Name)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for range 2 { // the second time everything is there
		if err := c.Extract(dir, p.Samples()); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(filepath.Join(dir, "test", "class9", "00000.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if r, g, b, _ := img.At(5, 3).RGBA(); r>>8 != 9 || g>>8 != 3 || b>>8 != 5 {
		t.Errorf("pixel (5, 3) is %d %d %d", r>>8, g>>8, b>>8)
	}
	for _, line := range []string{"3", "-1", "x", ""} {
		if s, err := c.Name(line, false); err == nil {
			t.Errorf("index %q became %v", line, s)
		}
	}
}

func TestCIFARMistakes(t *testing.T) {
	if _, err := ReadCIFAR100(t.TempDir()); err == nil || !strings.Contains(err.Error(), "train.bin") {
		t.Errorf("error %v", err)
	}
	if _, err := ReadCIFAR100(cifar(t, []byte{100}, []byte{0})); err == nil || !strings.Contains(err.Error(), "label 100") {
		t.Errorf("error %v", err)
	}
	dir := cifar(t, []byte{1}, []byte{2})
	if err := os.WriteFile(filepath.Join(dir, "test.bin"), make([]byte, cifarRecord-1), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadCIFAR100(dir); err == nil || !strings.Contains(err.Error(), "test.bin") {
		t.Errorf("error %v", err)
	}
}
