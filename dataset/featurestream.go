package dataset

import (
	"fmt"
	"io"
	"path/filepath"
)

// streamValues bounds the embeddings that EachFeature holds, 4 MiB.
const streamValues = 1 << 20

// EachFeature reads a feature folder as ReadFeatures does, but hands its rows to
// emit one after the other, so that memory grows with the number of samples
// only and not with their embeddings. The row is valid until emit returns;
// begin, called once before, gets the description (nil for a foreign folder)
// and the dimension.
func EachFeature(dir string, begin func(meta *Meta, d int) error, emit func(s Sample, row []float32) error) error {
	meta, samples, err := describeFeatures(dir)
	if err != nil {
		return fmt.Errorf("read features %s: %w", dir, err)
	}
	var emitted error
	_, err = readFile(filepath.Join(dir, embeddingsName), func(r io.Reader, size int64) (struct{}, error) {
		h, err := embeddingsHeader(r, size, samples)
		if err == nil {
			err = meta.checkDimension(h.d)
		}
		if err != nil {
			return struct{}{}, err
		}
		if emitted = begin(meta, h.d); emitted != nil {
			return struct{}{}, emitted
		}
		return struct{}{}, h.each(r, samples, func(s Sample, row []float32) error {
			emitted = emit(s, row)
			return emitted
		})
	})
	switch {
	case emitted != nil:
		return emitted
	case err != nil:
		return fmt.Errorf("read features %s: %s: %w", dir, embeddingsName, err)
	}
	return nil
}

// each reads a few rows at a time.
func (h npyHeader) each(r io.Reader, samples []Sample, emit func(Sample, []float32) error) error {
	room := make([]float32, h.d*min(h.n, max(1, streamValues/h.d)))
	for len(samples) > 0 {
		rows := min(len(samples), len(room)/h.d)
		if err := h.read(room[:rows*h.d], r, samples); err != nil {
			return err
		}
		for i, s := range samples[:rows] {
			if err := emit(s, room[i*h.d:(i+1)*h.d]); err != nil {
				return err
			}
		}
		samples = samples[rows:]
	}
	return nil
}
