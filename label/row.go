package label

import (
	"encoding/json"
	"strconv"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// A Row is the result for one image. Field order is column order.
type Row struct {
	// Path is relative to the image folder; bytes that are not UTF-8 are
	// percent-escaped.
	Path string `json:"path"`
	// Label is the most probable class, even if the image is rejected.
	Label string `json:"label"`
	// Probability is that of Label; Margin is its lead over the second class.
	Probability number `json:"probability"`
	Margin      number `json:"margin"`
	// Entropy is that of the distribution over all classes, in nats.
	Entropy number `json:"entropy"`
	// Novelty is the head's open-set score; higher means less known.
	Novelty number `json:"novelty"`
	// Rejected reports that the image looks like no known class.
	Rejected bool   `json:"rejected"`
	TopK     []pair `json:"top_k"`
}

func newRow(s Scored) Row {
	p := s.Prediction
	r := Row{
		Path:        dataset.EscapePath(s.Sample.Path),
		Label:       p.Label,
		Probability: number(p.Probability),
		Margin:      number(p.Margin),
		Entropy:     number(p.Entropy),
		Novelty:     number(p.Novelty),
		Rejected:    s.Rejected,
		TopK:        make([]pair, len(p.TopK)),
	}
	for i, t := range p.TopK {
		r.TopK[i] = pair{t.Label, number(t.Probability)}
	}
	return r
}

// A number is printed with seven significant digits everywhere, so that the
// formats agree and equal runs give equal bytes.
type number float64

func (x number) String() string { return strconv.FormatFloat(float64(x), 'g', 7, 64) }

// MarshalJSON writes the same digits as String.
func (x number) MarshalJSON() ([]byte, error) { return []byte(x.String()), nil }

// A pair is written as [label, probability].
type pair struct {
	label       string
	probability number
}

// MarshalJSON writes [label, probability].
func (p pair) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{p.label, p.probability})
}
