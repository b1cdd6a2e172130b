package label

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

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
