package label

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/model/account"
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
	if format == "xlsx" && (most == 0 || most > mostSheetRows) {
		o.most = mostSheetRows
	}
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

// tell says what the account of all rows is, for a format that has it in its last part.
func (o *output) tell(a account.Account) {
	if t, ok := o.parts[len(o.parts)-1].table.(*workbook); ok {
		t.account = &a
	}
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
		if p.table != nil {
			p.discard()
		}
		p.file.Abort()
	}
}

// A table writes one result file.
type table interface {
	write(Row) error
	// close flushes to the file, which stays open.
	close() error
	// discard frees what close, which was not called, would.
	discard()
}

// tableFormats are those of the result files, exportFormats those of package export.
func tableFormats() []string  { return []string{"csv", "jsonl", "parquet", "xlsx"} }
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
	case "xlsx":
		return newWorkbook(file, more)
	}
	return nil, fmt.Errorf("format %q is not one of %v", format, tableFormats())
}

// A column is one that only some jobs have: of texts, or of shares.
type column struct {
	name  string
	text  func(Row) string
	share func(Row) *number
}

func boxColumns() []column {
	return []column{{name: "box", text: func(r Row) string { return r.Box }}}
}

func eventColumns() []column {
	return []column{
		{name: "event", text: func(r Row) string { return r.Event }},
		{name: "event_label", text: func(r Row) string { return r.EventLabel }},
		{name: "event_probability", share: func(r Row) *number { return r.EventProbability }},
	}
}

func splitColumn() []column {
	return []column{{name: "split", text: func(r Row) string { return r.Split }}}
}

// cell returns the cell of a row in a table of text.
func (c column) cell(r Row) string {
	if c.share != nil {
		return c.share(r).cell()
	}
	return dataset.SafeCell(c.text(r))
}

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

func (t csvTable) discard() {}

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
func (t jsonTable) discard()          {}

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

func (t *parquetTable) discard() {}
