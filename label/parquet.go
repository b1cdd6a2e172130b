package label

import (
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// rowGroup is the number of rows that the parquet writer holds in memory.
const rowGroup = 1 << 14

// A parquetRow is a Row as parquet stores it; its numbers equal those that the
// other formats print.
type parquetRow struct {
	Path        string          `parquet:"path"`
	Label       string          `parquet:"label,dict"`
	Probability float64         `parquet:"probability"`
	Margin      float64         `parquet:"margin"`
	Entropy     float64         `parquet:"entropy"`
	Novelty     float64         `parquet:"novelty"`
	Rejected    bool            `parquet:"rejected"`
	TopK        []parquetRanked `parquet:"top_k,list"`
}

type parquetRanked struct {
	Label       string  `parquet:"label,dict"`
	Probability float64 `parquet:"probability"`
}

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
	row := parquetRow{
		Path: r.Path, Label: r.Label, Probability: r.Probability.printed(), Margin: r.Margin.printed(),
		Entropy: r.Entropy.printed(), Novelty: r.Novelty.printed(), Rejected: r.Rejected,
		TopK: make([]parquetRanked, len(r.TopK)),
	}
	for i, p := range r.TopK {
		row.TopK[i] = parquetRanked{p.label, p.probability.printed()}
	}
	t.pending = append(t.pending, row)
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

// printed returns the value that String shows.
func (x number) printed() float64 {
	v, err := strconv.ParseFloat(x.String(), 64)
	if err != nil {
		return float64(x) // cannot happen: String writes what ParseFloat reads
	}
	return v
}
