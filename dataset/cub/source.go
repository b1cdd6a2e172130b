package cub

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/dataset/matlab"
)

// The variables of res101.mat.
const (
	featuresName   = "features"
	labelsName     = "labels"
	imageFilesName = "image_files"
)

// maxDim is far above the size of any embedding.
const maxDim = 1 << 20

// A Source is a features file whose images are known to be those of CUB.
type Source struct {
	// Dim is the size of an embedding.
	Dim int
	// Samples describes the columns of the features, in their order.
	Samples []dataset.Sample

	path string
	mat  *matlab.File
	cub  *lists
}

// Open reads all but the features of the file mat, and images.txt and
// train_test_split.txt of the folder dir, and joins them. Errors name the image
// and the files that contradict each other. Close the source when done.
func Open(mat, dir string) (*Source, error) {
	l, err := readLists(dir)
	if err != nil {
		return nil, fmt.Errorf("import CUB: %w", err)
	}
	f, err := matlab.Open(mat)
	if err != nil {
		return nil, fmt.Errorf("import CUB: %w", err)
	}
	s := &Source{path: mat, mat: f, cub: l}
	if err := s.join(); err != nil {
		return nil, fmt.Errorf("import CUB: %w", errors.Join(err, f.Close()))
	}
	return s, nil
}

// Close closes the features file.
func (s *Source) Close() error { return s.mat.Close() }

func (s *Source) join() error {
	n, err := s.size()
	if err != nil {
		return err
	}
	files, err := s.imageFiles(n)
	if err != nil {
		return err
	}
	labels, err := s.labels(n)
	if err != nil {
		return err
	}
	seen := make(map[string]int, n)
	for i, file := range files {
		sample, err := s.sample(file, labels[i])
		if err != nil {
			return fmt.Errorf("%s: image %d: %w", s.path, i+1, err)
		}
		if first, ok := seen[sample.Path]; ok {
			return fmt.Errorf("%s: image %s is there twice, as number %d and %d; %s lists it once", s.path, sample.Path, first, i+1, s.cub.file(imagesName))
		}
		seen[sample.Path] = i + 1
		s.Samples = append(s.Samples, sample)
	}
	return s.complete(seen)
}

func (l *lists) file(name string) string { return filepath.Join(l.dir, name) }

// size compares the sizes of the variables before anything is read.
func (s *Source) size() (n int, err error) {
	dims := map[string][]int{}
	for _, v := range s.mat.Variables() {
		dims[v.Name] = v.Dims
	}
	for _, name := range []string{featuresName, labelsName, imageFilesName} {
		if _, ok := dims[name]; !ok {
			return 0, fmt.Errorf("%s: no variable %s; res101.mat has %s, %s and %s", s.path, name, featuresName, labelsName, imageFilesName)
		}
	}
	features := dims[featuresName]
	if len(features) != 2 || features[0] < 1 || features[0] > maxDim || features[1] < 1 {
		return 0, fmt.Errorf("%s: %s has the size %v, need a matrix with a column an image", s.path, featuresName, features)
	}
	s.Dim, n = features[0], features[1]
	for _, name := range []string{labelsName, imageFilesName} {
		if got := length(dims[name]); got != n {
			return 0, fmt.Errorf("%s: %s has the size %v, but %s has %d columns", s.path, name, dims[name], featuresName, n)
		}
	}
	return n, nil
}

// length is that of a row or a column, -1 of anything else.
func length(dims []int) int {
	switch {
	case len(dims) == 2 && dims[1] == 1:
		return dims[0]
	case len(dims) == 2 && dims[0] == 1:
		return dims[1]
	}
	return -1
}

// imageFiles and labels have one value an image; n was compared with what the
// file lists, here with what it holds.
func (s *Source) imageFiles(n int) ([]string, error) {
	a, err := s.mat.Read(imageFilesName)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	files, err := a.Strings()
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", s.path, imageFilesName, err)
	}
	if len(files) != n {
		return nil, fmt.Errorf("%s: %d %s, need %d", s.path, len(files), imageFilesName, n)
	}
	return files, nil
}

func (s *Source) labels(n int) ([]float64, error) {
	a, err := s.mat.Read(labelsName)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	if len(a.Numbers) != n {
		return nil, fmt.Errorf("%s: %s are of class %s, need %d numbers", s.path, labelsName, a.Class, n)
	}
	return a.Numbers, nil
}

// sample joins one image with the lists of the data set.
func (s *Source) sample(file string, label float64) (dataset.Sample, error) {
	parts := strings.Split(strings.ReplaceAll(file, `\`, "/"), "/")
	if len(parts) < 2 {
		return dataset.Sample{}, fmt.Errorf("its path %q has no folder; need …/CLASS/FILE as in %s", file, s.cub.file(imagesName))
	}
	class, path := parts[len(parts)-2], strings.Join(parts[len(parts)-2:], "/")
	split, ok := s.cub.split[path]
	if !ok {
		return dataset.Sample{}, fmt.Errorf("%q: no image %s in %s", file, path, s.cub.file(imagesName))
	}
	if number, _ := classNumber(class); label != float64(number) {
		return dataset.Sample{}, fmt.Errorf("%s has the label %v, but lies in class %d by %s", path, label, number, s.cub.file(imagesName))
	}
	return dataset.Sample{Path: path, Label: class, Split: split}, nil
}

// complete checks that no image of the data set is missing.
func (s *Source) complete(seen map[string]int) error {
	missing, first := 0, ""
	for path := range s.cub.split {
		if _, ok := seen[path]; ok {
			continue
		}
		if missing++; first == "" || path < first {
			first = path
		}
	}
	if missing == 0 {
		return nil
	}
	return fmt.Errorf("%s: image %s of %s is missing (%d of %d are)", s.path, first, s.cub.file(imagesName), missing, len(s.cub.split))
}

// Each hands every sample with its embedding, rounded to float32, to emit, in the
// order of Samples and in the memory of one embedding. The row is valid until
// emit returns. An error may come after all rows: only then is the checksum of
// compressed features known, so nothing must be committed before Each returns.
// An error of emit is returned as it is.
func (s *Source) Each(emit func(s dataset.Sample, row []float32) error) error {
	i := 0
	row := make([]float32, s.Dim)
	var emitted error
	err := s.mat.Columns(featuresName, func(column []float64) error {
		if i == len(s.Samples) || len(column) != s.Dim {
			return errChanged
		}
		sample := s.Samples[i]
		for j, v := range column {
			if row[j] = float32(v); math.IsNaN(v) || math.IsInf(float64(row[j]), 0) {
				return fmt.Errorf("image %s: value %d is %v, need a finite float32", sample.Path, j+1, v)
			}
		}
		i++
		emitted = emit(sample, row)
		return emitted
	})
	switch {
	case emitted != nil:
		return emitted
	case err == nil && i < len(s.Samples):
		err = errChanged
	}
	if err != nil {
		return fmt.Errorf("import CUB: %s: %w", s.path, err)
	}
	return nil
}

var errChanged = errors.New("the file was changed while it was read")

// An Origin says which files a source was made of.
type Origin struct {
	Dataset  string       `json:"dataset"`
	Features OriginFile   `json:"features"`
	Lists    []OriginFile `json:"lists"`
}

// OriginFile is one of them.
type OriginFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// Origin reads all files once more.
func (s *Source) Origin() (Origin, error) {
	o := Origin{Dataset: "CUB-200-2011"}
	var err error
	if o.Features, err = originFile(s.path); err != nil {
		return o, fmt.Errorf("import CUB: %w", err)
	}
	for _, name := range []string{imagesName, splitName} {
		f, err := originFile(s.cub.file(name))
		if err != nil {
			return o, fmt.Errorf("import CUB: %w", err)
		}
		o.Lists = append(o.Lists, f)
	}
	return o, nil
}

func originFile(path string) (OriginFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return OriginFile{}, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return OriginFile{}, err
	}
	return OriginFile{Name: filepath.Base(path), SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}
