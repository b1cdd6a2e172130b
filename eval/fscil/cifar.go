package fscil

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// The binary version of CIFAR-100: records of a coarse label, a fine label and
// a 32×32 picture in three planes.
const (
	cifarSide    = 32
	cifarRecord  = 2 + 3*cifarSide*cifarSide
	cifarClasses = 100
	// maxCIFARBytes bounds a file; the longest one has 154 MB.
	maxCIFARBytes = 1 << 30
)

// CIFAR100 is the binary version of the data set; the official lists hold
// indices into its two files.
type CIFAR100 struct {
	train, test []byte
	names       []string
}

// ReadCIFAR100 reads train.bin, test.bin and fine_label_names.txt in a folder.
func ReadCIFAR100(dir string) (*CIFAR100, error) {
	c := &CIFAR100{}
	text, err := regularfile.Read(filepath.Join(dir, "fine_label_names.txt"), maxCIFARBytes)
	if c.names = strings.Fields(string(text)); err == nil && len(c.names) != cifarClasses {
		err = fmt.Errorf("fine_label_names.txt has %d names, not %d", len(c.names), cifarClasses)
	}
	if err == nil {
		c.train, err = readRecords(filepath.Join(dir, "train.bin"))
	}
	if err == nil {
		c.test, err = readRecords(filepath.Join(dir, "test.bin"))
	}
	if err != nil {
		return nil, fmt.Errorf("CIFAR-100: %w; the image folder must hold train.bin, test.bin and fine_label_names.txt of the binary version", err)
	}
	return c, nil
}

func readRecords(file string) ([]byte, error) {
	data, err := regularfile.Read(file, maxCIFARBytes)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 || len(data)%cifarRecord != 0 {
		return nil, fmt.Errorf("%s has %d bytes, which are not records of %d", file, len(data), cifarRecord)
	}
	for at := 1; at < len(data); at += cifarRecord {
		if data[at] >= cifarClasses {
			return nil, fmt.Errorf("%s: record %d has the label %d", file, at/cifarRecord, data[at])
		}
	}
	return data, nil
}

// Sum returns the SHA-256 of the images and labels.
func (c *CIFAR100) Sum() [sha256.Size]byte {
	h := sha256.New()
	h.Write(c.train)
	h.Write(c.test)
	h.Write([]byte(strings.Join(c.names, "\n")))
	return [sha256.Size]byte(h.Sum(nil))
}

// Name is a [Namer] for lines that are indices: it returns
// train/CLASS/INDEX.png.
func (c *CIFAR100) Name(line string, test bool) (Sample, error) {
	split, data := splitTrain, c.train
	if test {
		split, data = splitTest, c.test
	}
	n := len(data) / cifarRecord
	i, err := strconv.ParseUint(line, 10, 32)
	if err != nil || i >= uint64(n) {
		return Sample{}, fmt.Errorf("%q is not an index into the %d %s images", line, n, split)
	}
	class := c.names[data[int(i)*cifarRecord+1]]
	return Sample{Path: fmt.Sprintf("%s/%s/%05d.png", split, class, i), Class: class}, nil
}

// Extract writes the images of samples made by Name as PNG files under dir.
// Existing files are left alone.
func (c *CIFAR100) Extract(dir string, samples []Sample) error {
	for _, s := range samples {
		file := filepath.Join(dir, filepath.FromSlash(s.Path))
		if _, err := os.Stat(file); err == nil {
			continue
		}
		if err := c.extract(file, s.Path); err != nil {
			return fmt.Errorf("extract %s: %w", s.Path, err)
		}
	}
	return nil
}

func (c *CIFAR100) extract(file, path string) error {
	split, _, _ := strings.Cut(path, "/")
	data := c.train
	if split == splitTest {
		data = c.test
	}
	i, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".png"))
	if err != nil || i < 0 || i >= len(data)/cifarRecord {
		return fmt.Errorf("no such record")
	}
	const plane = cifarSide * cifarSide
	picture := image.NewNRGBA(image.Rect(0, 0, cifarSide, cifarSide))
	for k := range plane {
		colours := data[i*cifarRecord+2+k:]
		picture.SetNRGBA(k%cifarSide, k/cifarSide, color.NRGBA{colours[0], colours[plane], colours[2*plane], 255})
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, picture); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return atomicfile.WriteFile(file, buf.Bytes())
}
