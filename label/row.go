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
	Path string `json:"path" parquet:"path"`
	// Label is the most probable class, even if the image is rejected.
	Label string `json:"label" parquet:"label,dict"`
	// Probability is that of Label; Margin is its lead over the second class.
	Probability number `json:"probability" parquet:"probability"`
	Margin      number `json:"margin" parquet:"margin"`
	// Entropy is that of the distribution over all classes, in nats.
	Entropy number `json:"entropy" parquet:"entropy"`
	// Novelty is the head's open-set score; higher means less known.
	Novelty number `json:"novelty" parquet:"novelty"`
	// Rejected reports that the image looks like no known class.
	Rejected bool   `json:"rejected" parquet:"rejected"`
	TopK     []pair `json:"top_k" parquet:"top_k,list"`
}

func newRow(s Scored) Row {
	p := s.Prediction
	r := Row{
		Path: dataset.EscapePath(s.Sample.Path), Label: p.Label, Probability: rounded(p.Probability), Margin: rounded(p.Margin),
		Entropy: rounded(p.Entropy), Novelty: rounded(p.Novelty), Rejected: s.Rejected, TopK: make([]pair, len(p.TopK)),
	}
	for i, t := range p.TopK {
		r.TopK[i] = pair{t.Label, rounded(t.Probability)}
	}
	return r
}

// A number is printed with seven significant digits everywhere, so that the
// formats agree and equal runs give equal bytes.
type number float64

// rounded returns the number that is printed for x.
func rounded(x float64) number {
	v, _ := strconv.ParseFloat(number(x).String(), 64) // what String writes can be parsed
	return number(v)
}

func (x number) String() string { return strconv.FormatFloat(float64(x), 'g', 7, 64) }

// MarshalJSON writes the same digits as String.
func (x number) MarshalJSON() ([]byte, error) { return []byte(x.String()), nil }

// A pair is written as [label, probability].
type pair struct {
	Label       string `parquet:"label,dict"`
	Probability number `parquet:"probability"`
}

// MarshalJSON writes [label, probability].
func (p pair) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{p.Label, p.Probability})
}
