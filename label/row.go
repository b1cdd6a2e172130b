package label

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// A Row is the result for one image. Field order is column order.
type Row struct {
	// Path is relative to the image folder; bytes that are not UTF-8 are
	// percent-escaped.
	Path string `json:"path" parquet:"path"`
	// Label is the class that was decided, otherwise the most probable one, as
	// dataset.JoinLabels writes it; empty if the image is rejected or set aside.
	Label string `json:"label" parquet:"label,dict"`
	// Probability is that of Label by the model; Margin is its lead over the next class,
	// below 0 where the model contradicts a decision.
	// They and Entropy compare the known classes with each other, which says
	// nothing about an image of none of them: nil without a label.
	Probability *number `json:"probability" parquet:"probability,optional"`
	Margin      *number `json:"margin" parquet:"margin,optional"`
	// Entropy is that of the distribution over all classes, in nats.
	Entropy *number `json:"entropy" parquet:"entropy,optional"`
	// Novelty is the head's open-set score; higher means less known.
	Novelty number `json:"novelty" parquet:"novelty"`
	// Rejected reports that the image looks like no known class.
	Rejected bool `json:"rejected" parquet:"rejected"`
	// TopK lists the nearest classes even if the image is rejected.
	TopK pairs `json:"top_k" parquet:"top_k,list"`
	// New is the probability that the image is of no known class, nil if the model cannot
	// tell. That of a class c is 1 − New times the one in TopK.
	New *number `json:"p_new" parquet:"p_new,optional"`
	// By says who decided, empty for the model.
	By By `json:"by" parquet:"by,dict"`
	// Box is "x,y,w,h" in shares of the upright photo, empty for a whole image.
	Box string `json:"box,omitempty" parquet:"box,optional"`
	// Event names the event of the photo, EventLabel is that of its classes which the
	// photo shows best; all are empty without events.
	Event            string  `json:"event,omitempty" parquet:"event,dict,optional"`
	EventLabel       string  `json:"event_label,omitempty" parquet:"event_label,dict,optional"`
	EventProbability *number `json:"event_probability,omitempty" parquet:"event_probability,optional"`
	// Split is the part that the image belongs to, empty if they are not divided.
	Split string `json:"split,omitempty" parquet:"split,dict,optional"`
}

// newRow returns what is written about a scored image.
func newRow(s Scored) Row {
	p := s.Prediction
	r := Row{
		Path: dataset.EscapePath(s.Sample.Path), By: s.By,
		Novelty: rounded(p.Novelty), Rejected: s.Rejected, TopK: make(pairs, len(p.TopK)), Split: s.Split,
	}
	if !s.Rejected && !s.SetAside() {
		r.Label = dataset.JoinLabels(p.Label)
		probability, margin, entropy := rounded(p.Probability), rounded(p.Margin), rounded(p.Entropy)
		r.Probability, r.Margin, r.Entropy = &probability, &margin, &entropy
	}
	if len(s.Labels) > 0 {
		r.Label = dataset.JoinLabels(s.Labels...)
	}
	if s.New != nil {
		r.New = new(rounded(*s.New))
	}
	for i, t := range p.TopK {
		r.TopK[i] = pair{t.Label, rounded(t.Probability)}
	}
	if s.Sample.Box != nil {
		r.Box = s.Sample.Box.String()
	}
	if e := s.Event; e != nil {
		r.Event, r.EventLabel = e.Name, e.Label
		if e.Label != "" {
			r.EventProbability = new(rounded(e.Probability))
		}
	}
	return r
}

// A number is printed with seven significant digits everywhere, so that the
// formats agree and equal runs give equal bytes.
type number float64

// rounded returns the number that is printed for x.
func rounded(x float64) number {
	for i, top := range [...]float64{10, 1, 0.1, 0.01, 1e-3} {
		if x >= top || x < top/10 {
			continue
		}
		// x is m/scale with seven digits m, and dividing two integers below 2⁵³ rounds as parsing
		// does. The product is off by 1e-9 at most, which matters only near a half.
		scale := [...]float64{1e6, 1e7, 1e8, 1e9, 1e10}[i]
		m, rest := math.Modf(x * scale)
		if math.Abs(rest-0.5) > 1e-6 {
			return number((m + math.Round(rest)) / scale)
		}
	}
	var buffer [24]byte
	v, _ := strconv.ParseFloat(string(digits(buffer[:0], x)), 64) // what digits writes can be parsed
	return number(v)
}

func (x number) String() string { return Digits(float64(x)) }

// Digits prints a number as every result has it.
func Digits(x float64) string { return string(digits(nil, x)) }

func digits(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'g', 7, 64) }

// cell is String, or empty without a number.
func (x *number) cell() string {
	if x == nil {
		return ""
	}
	return x.String()
}

// MarshalJSON writes the same digits as String.
func (x number) MarshalJSON() ([]byte, error) { return []byte(x.String()), nil }

// A pair is written as [label, probability].
type pair struct {
	Label       string `parquet:"label,dict"`
	Probability number `parquet:"probability"`
}

type pairs []pair

// MarshalJSON writes [[label, probability], …], which is much of the work of a row.
func (p pairs) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 40*len(p)+2), '[')
	for i, one := range p {
		if i > 0 {
			b = append(b, ',')
		}
		label, err := json.Marshal(one.Label)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, '['), label...), ',')
		b = append(digits(b, float64(one.Probability)), ']')
	}
	return append(b, ']'), nil
}
