package label

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// An output is the result in one format: labels.csv, then labels-2.csv and so
// on when a file is full. No part has its final name before commit.
type output struct {
	dir, format string
	most        int // rows per part
	more        []column
	rows        int // in the last part
	parts       []part
}

// A part is a table and the file under it.
type part struct {
	table
	file *atomicfile.File
}

func (o *output) name(n int) string {
	if n == 1 {
		return "labels." + o.format
	}
	return fmt.Sprintf("labels-%d.%s", n, o.format)
}

func createOutput(dir, format string, most int, more ...column) (*output, error) {
	o := &output{dir: dir, format: format, most: most, more: more}
	return o, o.next()
}

// next begins a part.
func (o *output) next() error {
	if n := len(o.parts); n > 0 {
		if err := o.parts[n-1].close(); err != nil {
			return err
		}
		o.parts[n-1].table = nil // frees its buffers
	}
	file, err := atomicfile.Create(filepath.Join(o.dir, o.name(len(o.parts)+1)))
	if err != nil {
		return err
	}
	o.parts, o.rows = append(o.parts, part{file: file}), 0
	t, err := newTable(o.format, file, o.more)
	o.parts[len(o.parts)-1].table = t
	return err
}

func (o *output) write(r Row) error {
	if o.most > 0 && o.rows == o.most {
		if err := o.next(); err != nil {
			return err
		}
	}
	o.rows++
	return o.parts[len(o.parts)-1].write(r)
}

// commit gives all parts their final names, removes surplus parts of an
// earlier, longer job, and returns the names.
func (o *output) commit() ([]string, error) {
	if err := o.parts[len(o.parts)-1].close(); err != nil {
		return nil, err
	}
	var names []string
	for i, p := range o.parts {
		if err := p.file.Commit(); err != nil {
			return nil, err
		}
		names = append(names, o.name(i+1))
	}
	return names, o.removeAfter(len(o.parts))
}

// removeAfter removes what an earlier job, by its summary, wrote after the last part.
func (o *output) removeAfter(last int) error {
	var errs []error
	for _, name := range results(o.dir) {
		middle, isPart := strings.CutPrefix(name, "labels-")
		number, ofFormat := strings.CutSuffix(middle, "."+o.format)
		n, err := strconv.Atoi(number)
		if !isPart || !ofFormat || err != nil || n <= last || o.name(n) != name {
			continue
		}
		if err := atomicfile.Remove(filepath.Join(o.dir, name)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (o *output) abort() {
	for _, p := range o.parts {
		p.file.Abort()
	}
}

// A table writes one result file.
type table interface {
	write(Row) error
	// close flushes to the file, which stays open.
	close() error
}

// tableFormats are those of the result files, exportFormats those of package export.
func tableFormats() []string  { return []string{"csv", "jsonl", "parquet"} }
func exportFormats() []string { return []string{"imagefolder", "coco", "label-studio", "camtrap-dp"} }

// Formats are those that a Job and package export write.
func Formats() []string { return append(tableFormats(), exportFormats()...) }

func newTable(format string, file io.Writer, more []column) (table, error) {
	switch format {
	case "csv":
		return newCSVTable(file, more)
	case "jsonl":
		return newJSONTable(file), nil
	case "parquet":
		return newParquetTable(file), nil
	}
	return nil, fmt.Errorf("format %q is not one of %v", format, tableFormats())
}

// A column is one that only some jobs have.
type column struct {
	name string
	cell func(Row) string
}

func boxColumns() []column { return []column{{"box", func(r Row) string { return r.Box }}} }

func eventColumns() []column {
	return []column{
		{"event", func(r Row) string { return r.Event }},
		{"event_label", func(r Row) string { return dataset.SafeCell(r.EventLabel) }},
		{"event_probability", func(r Row) string { return r.EventProbability.cell() }},
	}
}

func splitColumn() []column { return []column{{"split", func(r Row) string { return r.Split }}} }

type csvTable struct {
	w    *csv.Writer
	more []column
}

func newCSVTable(file io.Writer, more []column) (csvTable, error) {
	t := csvTable{csv.NewWriter(file), more}
	header := []string{"path", "label", "probability", "margin", "entropy", "novelty", "rejected", "top_k", "p_new",
		"by"}
	for _, c := range more {
		header = append(header, c.name)
	}
	return t, t.w.Write(header)
}

func (t csvTable) write(r Row) error {
	topK, err := r.TopK.MarshalJSON()
	if err != nil {
		return err
	}
	cells := []string{
		dataset.SafeCell(r.Path), dataset.SafeCell(r.Label),
		r.Probability.cell(), r.Margin.cell(), r.Entropy.cell(), r.Novelty.String(),
		strconv.FormatBool(r.Rejected), string(topK), r.New.cell(), string(r.By),
	}
	for _, c := range t.more {
		cells = append(cells, c.cell(r))
	}
	return t.w.Write(cells)
}

func (t csvTable) close() error {
	t.w.Flush()
	return t.w.Error()
}

type jsonTable struct {
	buf *bufio.Writer
	enc *json.Encoder
}

func newJSONTable(file io.Writer) jsonTable {
	buf := bufio.NewWriter(file)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	return jsonTable{buf, enc}
}

func (t jsonTable) write(r Row) error { return t.enc.Encode(r) }
func (t jsonTable) close() error      { return t.buf.Flush() }

// rowGroup is the number of rows that the parquet writer holds in memory.
const rowGroup = 1 << 14

// A parquetRow is a Row under the name that the file's schema has.
type parquetRow Row

type parquetTable struct {
	w       *parquet.GenericWriter[parquetRow]
	pending []parquetRow
}

func newParquetTable(file io.Writer) *parquetTable {
	return &parquetTable{w: parquet.NewGenericWriter[parquetRow](file,
		parquet.Compression(&parquet.Snappy),
		parquet.CreatedBy("pipeline", "1", "labels"),
		parquet.MaxRowsPerRowGroup(rowGroup),
	)}
}

func (t *parquetTable) write(r Row) error {
	t.pending = append(t.pending, parquetRow(r))
	if len(t.pending) < batchRows {
		return nil
	}
	return t.flush()
}

func (t *parquetTable) flush() error {
	_, err := t.w.Write(t.pending)
	t.pending = t.pending[:0]
	return err
}

func (t *parquetTable) close() error {
	if err := t.flush(); err != nil {
		return err
	}
	return t.w.Close()
}

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
