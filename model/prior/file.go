package prior

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/seed-90d10d51/pipeline/internal/safetensors"
	"github.com/seed-90d10d51/pipeline/model/internal/container"
)

// ErrNotPrior means that a file is not a PRIOR file.
var ErrNotPrior = errors.New("not a prior")

var format = container.Format{Name: "pipeline-prior", Version: 1, Foreign: ErrNotPrior, Again: "make the prior again"}

// Tensors of a PRIOR file, and of a MODEL that has a prior.
const (
	withinTensor  = "prior.within"
	contentTensor = "prior.content"
)

// Save writes the prior atomically. A file of another kind is never replaced.
func (p *Prior) Save(path string) error {
	return container.Save(path, "prior", format, func() (container.File, error) {
		text, err := json.Marshal(p.Description)
		c := container.New(format, string(text))
		p.Encode(c)
		return c, err
	})
}

// Encode adds all but the Description to a file.
func (p *Prior) Encode(c container.File) {
	c.Tensors[withinTensor] = safetensors.Tensor{Shape: []int{p.Dim, p.Dim}, F32: p.within}
	c.Tensors[contentTensor] = container.Hashes(p.content)
}

// Load reads a PRIOR file and checks all of it. The error wraps ErrNotPrior, or one
// of the errors by which model.Load reports a bad file.
func Load(path string) (*Prior, error) { return container.Load(path, "prior", open) }

// open reads a PRIOR. It accepts any bytes and returns a prior or an error.
func open(r io.ReaderAt, size int64) (*Prior, error) {
	var d Description
	f, err := container.Described(r, size, format, "pipeline prior", &d)
	if err != nil {
		return nil, err
	}
	return Decode(f, d)
}

// Decode reads what Encode wrote, and checks it and the description.
func Decode(f *safetensors.File, d Description) (*Prior, error) {
	if d.Dim < 1 || d.Sets < 1 || d.Classes < 1 || d.Degrees < d.Classes {
		return nil, fmt.Errorf("its description: %d values per embedding, %d sets, %d classes, %d degrees of freedom",
			d.Dim, d.Sets, d.Classes, d.Degrees)
	}
	if !(d.Epsilon >= 0 && d.Epsilon <= 1) {
		return nil, fmt.Errorf("its description: an epsilon of %g, outside 0 … 1", d.Epsilon)
	}
	if err := d.Provenance.Validate(); err != nil {
		return nil, fmt.Errorf("its description: %w", err)
	}
	within, err := f.Read(withinTensor)
	if err != nil {
		return nil, err
	}
	content, err := container.ReadHashes(f, contentTensor)
	if err != nil {
		return nil, err
	}
	if err := checkWithin(within, d.Dim); err != nil {
		return nil, fmt.Errorf("tensor %s: %w", withinTensor, err)
	}
	if d.Images < 0 || d.Images > len(content) {
		return nil, fmt.Errorf("its description: %d images with %d content hashes", d.Images, len(content))
	}
	for i := range content {
		if i > 0 && compare(content[i-1], content[i]) >= 0 {
			return nil, fmt.Errorf("content hash %d is out of order", i)
		}
	}
	return &Prior{Description: d, within: within.F32, content: content}, nil
}

// checkWithin returns an error unless t can be the covariance (d×d) of vectors of
// length 1, as far as its elements tell.
func checkWithin(t safetensors.Tensor, d int) error {
	if len(t.Shape) != 2 || t.Shape[0] != d || t.Shape[1] != d || t.F32 == nil {
		return fmt.Errorf("shape %v instead of [%d %d]", t.Shape, d, d)
	}
	const largest = 4 // squared distance of vectors of length 1
	for i := range d {
		for j := range i + 1 {
			v := float64(t.F32[i*d+j])
			if math.IsNaN(v) || math.Abs(v) > largest || i == j && v < 0 || t.F32[j*d+i] != t.F32[i*d+j] {
				return fmt.Errorf("element %d, %d is %g", i, j, v)
			}
		}
	}
	return nil
}
