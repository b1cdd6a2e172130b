// Package idx reads IDX files, the format of MNIST: arrays of bytes preceded by
// their shape, plain or gzipped.
//
//	0 0 8 D              two zeros, 8 for unsigned bytes, the number of dimensions
//	n_1 … n_D            4 bytes each, the most significant first
//	values               n_1·…·n_D bytes, the last dimension fastest
//
// The format's other element types are refused. Files are untrusted: memory is
// allocated for the data present, not for what the header claims.
package idx

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// Limits of a file.
const (
	maxDimensions = 4
	maxValues     = 1 << 31
	unsignedByte  = 8
)

// An Array is the content of a file.
type Array struct {
	// Shape holds the sides; Data has as many bytes as their product.
	Shape []int
	Data  []byte
}

// Read reads one array to the end of r; gzip is detected by its first bytes.
func Read(r io.Reader) (Array, error) {
	b := bufio.NewReader(r)
	if magic, err := b.Peek(2); err == nil && bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return Array{}, fmt.Errorf("idx: %w", err)
		}
		b = bufio.NewReader(z)
	}
	a, err := read(b)
	if err != nil {
		return Array{}, fmt.Errorf("idx: %w", err)
	}
	return a, nil
}

func read(r *bufio.Reader) (Array, error) {
	var magic [4]byte
	if _, err := io.ReadFull(r, magic[:]); err != nil {
		return Array{}, fmt.Errorf("header: %w", err)
	}
	if magic[0] != 0 || magic[1] != 0 {
		return Array{}, fmt.Errorf("begins with % x: not an IDX file", magic)
	}
	if magic[2] != unsignedByte {
		return Array{}, fmt.Errorf("elements of type %#x: only unsigned bytes (0x8) are supported", magic[2])
	}
	if magic[3] < 1 || magic[3] > maxDimensions {
		return Array{}, fmt.Errorf("%d dimensions: outside 1 … %d", magic[3], maxDimensions)
	}
	a, size := Array{}, 1
	for range magic[3] {
		var side uint32
		if err := binary.Read(r, binary.BigEndian, &side); err != nil {
			return Array{}, fmt.Errorf("header: %w", err)
		}
		if side != 0 && size > maxValues/int(side) {
			return Array{}, fmt.Errorf("more than %d values", maxValues)
		}
		size *= int(side)
		a.Shape = append(a.Shape, int(side))
	}
	var err error
	if a.Data, err = io.ReadAll(io.LimitReader(r, int64(size)+1)); err != nil {
		return Array{}, err
	}
	if len(a.Data) != size {
		return Array{}, fmt.Errorf("shape %v needs %d bytes, there are %s", a.Shape, size, counted(len(a.Data), size))
	}
	return a, nil
}

func counted(n, size int) string {
	if n > size {
		return "more"
	}
	return fmt.Sprint(n)
}

// Labelled holds images and their labels.
type Labelled struct {
	// Images (n×Pixels), row after row.
	Images []byte
	Pixels int
	Labels []byte
}

// Parts of a data set, as the names of its files begin.
const (
	Train = "train"
	Test  = "t10k"
)

// Load reads PART-images-idx3-ubyte and PART-labels-idx1-ubyte from a folder.
// Each may have the suffix .gz, or a dot in place of the dash before idx.
func Load(folder, part string) (Labelled, error) {
	images, err := open(folder, part+"-images", "idx3-ubyte")
	if err != nil {
		return Labelled{}, err
	}
	labels, err := open(folder, part+"-labels", "idx1-ubyte")
	if err != nil {
		return Labelled{}, err
	}
	n := len(labels.Data)
	if len(labels.Shape) != 1 || len(images.Shape) < 2 || images.Shape[0] != n || n == 0 || len(images.Data) == 0 {
		return Labelled{}, fmt.Errorf("idx: %s: images of shape %v and labels of shape %v do not match", part,
			images.Shape, labels.Shape)
	}
	return Labelled{Images: images.Data, Pixels: len(images.Data) / n, Labels: labels.Data}, nil
}

func open(folder, stem, kind string) (Array, error) {
	for _, name := range []string{stem + "-" + kind, stem + "." + kind} {
		for _, ending := range []string{"", ".gz"} {
			a, err := readFile(filepath.Join(folder, name+ending))
			if !errors.Is(err, fs.ErrNotExist) {
				return a, err
			}
		}
	}
	return Array{}, fmt.Errorf("idx: %s-%s: %w in %s, with or without .gz", stem, kind, fs.ErrNotExist, folder)
}

func readFile(file string) (Array, error) {
	f, _, err := regularfile.Open(file)
	if err != nil {
		return Array{}, err
	}
	a, err := Read(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return Array{}, fmt.Errorf("%s: %w", file, err)
	}
	return a, nil
}
