package classstats

import (
	"bytes"
	"cmp"
	"slices"
)

var Decode = decode

// Format is the format of a STATS file.
var Format = format

// Encodable is the error of writing the statistics to a file.
func (s *Stats) Encodable() error {
	c, err := s.container()
	if err == nil {
		_, err = c.Digest()
	}
	return err
}

// Samples returns the pairs, sorted by class and content.
func (s *Stats) Samples() []SampleID {
	ids := make([]SampleID, 0, s.SampleCount())
	for name, c := range s.classes {
		for _, h := range c.content {
			ids = append(ids, SampleID{h, name})
		}
	}
	slices.SortFunc(ids, func(a, b SampleID) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), bytes.Compare(a.Content[:], b.Content[:]))
	})
	return ids
}
