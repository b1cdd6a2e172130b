package parquetfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// mostNestedColumns is far above the depth of any schema. The library takes memory for
// the names on the way to each column.
const mostNestedColumns = 32

// openSchema returns the columns with one value per row. For the library, they are
// those of a file that has nothing but a group of rows without compression, whose
// pages come from pageStreams.
func openSchema(schema []format.SchemaElement) (columns []column, err error) {
	if err := checkNesting(schema); err != nil {
		return nil, err
	}
	group := format.RowGroup{}
	for i := range schema {
		if schema[i].Type.Valid { // a column, rather than a group of columns
			group.Columns = append(group.Columns, format.ColumnChunk{MetaData: format.ColumnMetaData{
				Type: schema[i].Type.V, Codec: format.Uncompressed, TotalCompressedSize: math.MaxInt64 >> 1,
			}})
		}
	}
	metadata := format.FileMetaData{Version: 1, Schema: schema, RowGroups: []format.RowGroup{group}}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &metadata)
	if err != nil {
		return nil, err
	}
	file := append([]byte(magic), footer...)
	file = append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), magic...)
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)),
		parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	chunks := f.RowGroups()[0].ColumnChunks()
	for _, c := range f.Root().Columns() {
		if c.Leaf() && !c.Repeated() {
			columns = append(columns, column{c.Name(), c.Index(), c, chunks[c.Index()].(*parquet.FileColumnChunk)})
		}
	}
	return columns, nil
}

// checkNesting walks the schema, which is a tree in depth-first order.
func checkNesting(schema []format.SchemaElement) error {
	var open []int32 // how many children are still to come, of each group
	for i := range schema {
		if len(open) > mostNestedColumns {
			return damaged("columns in more than %d groups", mostNestedColumns)
		}
		if n := schema[i].NumChildren.V; n > 0 {
			open = append(open, n)
			continue
		}
		for len(open) > 0 {
			last := &open[len(open)-1]
			if *last--; *last > 0 {
				break
			}
			open = open[:len(open)-1]
		}
	}
	return nil
}
