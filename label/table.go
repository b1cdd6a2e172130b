package label

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// A table is one result file in the making.
type table interface {
	write(Row) error
	// flush hands everything to the file; commit gives it its final name.
	flush() error
}

func formats() []string { return []string{"csv", "jsonl"} }

// An output is a table and the file under it.
type output struct {
	table
	file *atomicfile.File
}

func createOutput(dir, format string) (output, error) {
	file, err := atomicfile.Create(filepath.Join(dir, "labels."+format))
	if err != nil {
		return output{}, err
	}
	switch format {
	case "csv":
		t, err := newCSVTable(file)
		return output{t, file}, err
	case "jsonl":
		return output{newJSONTable(file), file}, nil
	}
	return output{}, fmt.Errorf("format %q is not one of %v", format, formats())
}

func (o output) commit() error {
	if err := o.flush(); err != nil {
		return err
	}
	return o.file.Commit()
}

type csvTable struct{ w *csv.Writer }

func newCSVTable(file *atomicfile.File) (csvTable, error) {
	t := csvTable{csv.NewWriter(file)}
	return t, t.w.Write([]string{"path", "label", "probability", "margin", "entropy", "novelty", "rejected", "top_k"})
}

func (t csvTable) write(r Row) error {
	topK, err := json.Marshal(r.TopK)
	if err != nil {
		return err
	}
	return t.w.Write([]string{
		neutral(r.Path), neutral(r.Label),
		r.Probability.String(), r.Margin.String(), r.Entropy.String(), r.Novelty.String(),
		strconv.FormatBool(r.Rejected), string(topK),
	})
}

func (t csvTable) flush() error {
	t.w.Flush()
	return t.w.Error()
}

type jsonTable struct {
	buf *bufio.Writer
	enc *json.Encoder
}

func newJSONTable(file *atomicfile.File) jsonTable {
	buf := bufio.NewWriter(file)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	return jsonTable{buf, enc}
}

func (t jsonTable) write(r Row) error { return t.enc.Encode(r) }
func (t jsonTable) flush() error      { return t.buf.Flush() }
