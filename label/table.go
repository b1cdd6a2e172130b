package label

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// A table writes one result file.
type table interface {
	write(Row) error
	// close flushes to the file, which stays open.
	close() error
}

func formats() []string { return []string{"csv", "jsonl", "parquet"} }

func newTable(format string, file io.Writer) (table, error) {
	switch format {
	case "csv":
		return newCSVTable(file)
	case "jsonl":
		return newJSONTable(file), nil
	case "parquet":
		return newParquetTable(file), nil
	}
	return nil, fmt.Errorf("format %q is not one of %v", format, formats())
}

type csvTable struct{ w *csv.Writer }

func newCSVTable(file io.Writer) (csvTable, error) {
	t := csvTable{csv.NewWriter(file)}
	return t, t.w.Write([]string{"path", "label", "probability", "margin", "entropy", "novelty", "rejected", "top_k"})
}

func (t csvTable) write(r Row) error {
	topK, err := json.Marshal(r.TopK)
	if err != nil {
		return err
	}
	return t.w.Write([]string{
		dataset.SafeCell(r.Path), dataset.SafeCell(r.Label),
		r.Probability.String(), r.Margin.String(), r.Entropy.String(), r.Novelty.String(),
		strconv.FormatBool(r.Rejected), string(topK),
	})
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
