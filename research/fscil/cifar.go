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

const (
	cifarSide    = 32
	cifarPicture = 3 * cifarSide * cifarSide
	// maxCIFARBytes bounds a file; the longest one has 154 MB.
	maxCIFARBytes = 1 << 30
)

// CIFAR is the binary version of CIFAR-10 or CIFAR-100: records of labels and a
// 32×32 picture in three planes. Lists hold indices into the training and the
// test pictures.
type CIFAR struct {
	// Name is cifar10 or cifar100.
	Name        string
	train, test []byte
	names       []string
	labels      int // bytes before a picture, of which the last is the class
}

// A cifarLayout is what the two data sets differ in.
type cifarLayout struct {
	name, title     string
	labels, classes int
	train           []string
	test, names     string
	// archive is the file with the binary version, pickled a file of the Python
	// version.
	archive, pickled string
}

func cifarLayouts() []cifarLayout {
	return []cifarLayout{
		{"cifar10", "CIFAR-10", 1, 10,
			[]string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
				"data_batch_5.bin"}, "test_batch.bin", "batches.meta.txt", "cifar-10-binary.tar.gz", "batches.meta"},
		// the first label is the coarse one
		{"cifar100", "CIFAR-100", 2, 100, []string{"train.bin"}, "test.bin", "fine_label_names.txt",
			"cifar-100-binary.tar.gz", "meta"},
	}
}

// ReadCIFAR reads a folder with the files of CIFAR-10 (data_batch_1.bin to
// data_batch_5.bin, test_batch.bin, batches.meta.txt) or CIFAR-100 (train.bin,
// test.bin, fine_label_names.txt). The training batches count as one.
func ReadCIFAR(dir string) (*CIFAR, error) {
	layouts := cifarLayouts()
	l := layouts[1]
	if _, err := os.Stat(filepath.Join(dir, layouts[0].names)); err == nil {
		l = layouts[0]
	}
	c, err := l.read(dir)
	for _, l := range layouts {
		if _, pickled := os.Stat(filepath.Join(dir, l.pickled)); err != nil && pickled == nil {
			return nil, fmt.Errorf("%s: %s holds the Python version, whose pickles cannot be read here: get the "+
				"binary version, %s", l.title, dir, l.archive)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; the image folder must hold the files of the binary version: train.bin, "+
			"test.bin and fine_label_names.txt of CIFAR-100 (%s), or data_batch_1.bin to data_batch_5.bin, "+
			"test_batch.bin and batches.meta.txt of CIFAR-10 (%s)", l.title,
			err, layouts[1].archive, layouts[0].archive)
	}
	return c, nil
}

func (l cifarLayout) read(dir string) (*CIFAR, error) {
	text, err := regularfile.Read(filepath.Join(dir, l.names), maxCIFARBytes)
	if err != nil {
		return nil, err
	}
	c := &CIFAR{Name: l.name, names: strings.Fields(string(text)), labels: l.labels}
	if len(c.names) != l.classes {
		return nil, fmt.Errorf("%s has %d names, not %d", l.names, len(c.names), l.classes)
	}
	for _, file := range l.train {
		batch, err := l.records(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		c.train = append(c.train, batch...)
	}
	c.test, err = l.records(filepath.Join(dir, l.test))
	return c, err
}

func (l cifarLayout) records(file string) ([]byte, error) {
	data, err := regularfile.Read(file, maxCIFARBytes)
	if err == nil {
		err = l.check(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return data, nil
}

// check returns an error unless data are records with labels of known classes.
func (l cifarLayout) check(data []byte) error {
	record := l.labels + cifarPicture
	if len(data) == 0 || len(data)%record != 0 {
		return fmt.Errorf("%d bytes, which are not records of %d", len(data), record)
	}
	for at := l.labels - 1; at < len(data); at += record {
		if int(data[at]) >= l.classes {
			return fmt.Errorf("record %d has the label %d", at/record, data[at])
		}
	}
	return nil
}

func (c *CIFAR) record(data []byte, i int) []byte {
	n := c.labels + cifarPicture
	return data[i*n : (i+1)*n]
}

func (c *CIFAR) count(data []byte) int { return len(data) / (c.labels + cifarPicture) }

// Sum returns the SHA-256 of the images and labels.
func (c *CIFAR) Sum() [sha256.Size]byte {
	h := sha256.New()
	h.Write(c.train)
	h.Write(c.test)
	h.Write([]byte(strings.Join(c.names, "\n")))
	return [sha256.Size]byte(h.Sum(nil))
}

// Locate is a [Namer] for lines that are indices: it returns
// train/CLASS/INDEX.png.
func (c *CIFAR) Locate(line string, test bool) (Sample, error) {
	split, data := splitTrain, c.train
	if test {
		split, data = splitTest, c.test
	}
	n := c.count(data)
	i, err := strconv.ParseUint(line, 10, 32)
	if err != nil || i >= uint64(n) {
		return Sample{}, fmt.Errorf("%q is not an index into the %d %s images", line, n, split)
	}
	class := c.names[c.record(data, int(i))[c.labels-1]]
	return Sample{Path: fmt.Sprintf("%s/%s/%05d.png", split, class, i), Class: class}, nil
}

// Extract writes the images of samples made by Locate as PNG files under dir.
// Existing files are left alone.
func (c *CIFAR) Extract(dir string, samples []Sample) error {
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

func (c *CIFAR) extract(file, path string) error {
	split, _, _ := strings.Cut(path, "/")
	data := c.train
	if split == splitTest {
		data = c.test
	}
	i, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".png"))
	if err != nil || i < 0 || i >= c.count(data) {
		return fmt.Errorf("no such record")
	}
	const plane = cifarSide * cifarSide
	planes := c.record(data, i)[c.labels:]
	picture := image.NewNRGBA(image.Rect(0, 0, cifarSide, cifarSide))
	for k := range plane {
		picture.SetNRGBA(k%cifarSide, k/cifarSide, color.NRGBA{planes[k], planes[plane+k], planes[2*plane+k], 255})
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
