// Package parquetbomb makes small Parquet files that take much memory or time to
// read, for tests.
package parquetbomb

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A Column is a column of strings.
type Column struct {
	Name     string
	Codec    format.CompressionCodec
	Optional bool
	Pages    []Page
}

// A Page is a page as it is stored.
type Page struct {
	Header format.PageHeader
	Data   []byte
}

// A Shape says what a file has beside its columns.
type Shape struct {
	Rows   int64 // of a group
	Groups int   // which share their pages; at least one
	Nested int   // groups of columns around an empty one
}

// File returns a file.
func File(s Shape, columns ...Column) []byte {
	file := []byte("PAR1")
	group := format.RowGroup{NumRows: s.Rows}
	schema := []format.SchemaElement{{Name: "root", NumChildren: thrift.New(int32(len(columns) + min(1, s.Nested)))}}
	for _, c := range columns {
		at := int64(len(file))
		for _, p := range c.Pages {
			p.Header.CompressedPageSize = int32(len(p.Data))
			file = append(append(file, encoded(&p.Header)...), p.Data...)
		}
		repetition := format.Required
		if c.Optional {
			repetition = format.Optional
		}
		schema = append(schema, format.SchemaElement{
			Name: c.Name, Type: thrift.New(format.ByteArray), RepetitionType: thrift.New(repetition),
		})
		group.Columns = append(group.Columns, format.ColumnChunk{MetaData: format.ColumnMetaData{
			Type: format.ByteArray, Codec: c.Codec, NumValues: s.Rows, PathInSchema: []string{c.Name},
			Encoding: []format.Encoding{format.Plain}, DataPageOffset: at, TotalCompressedSize: int64(len(file)) - at,
		}})
	}
	for range s.Nested {
		schema = append(schema, format.SchemaElement{Name: "n", NumChildren: thrift.New(int32(1))})
	}
	if s.Nested > 0 {
		schema[len(schema)-1].NumChildren.V = 0
	}
	groups := slices.Repeat([]format.RowGroup{group}, max(1, s.Groups))
	footer := encoded(&format.FileMetaData{
		Version: 1, Schema: schema, NumRows: s.Rows * int64(len(groups)), RowGroups: groups,
	})
	file = append(file, footer...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), "PAR1"...)
}

// encoded panics only if a value is of a wrong type.
func encoded(v any) []byte {
	b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	if err != nil {
		panic(err)
	}
	return b
}

// Data returns a page with a number of values that are encoded in some way, and is
// said to have a size.
func Data(values int, encoding format.Encoding, size int, data []byte) Page {
	return Page{Data: data, Header: format.PageHeader{
		Type: format.DataPage, UncompressedPageSize: int32(size), DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: int32(values), Encoding: encoding,
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
		}),
	}}
}

// Dictionary returns a page with the values of other pages.
func Dictionary(values, size int, data []byte) Page {
	return Page{Data: data, Header: format.PageHeader{
		Type: format.DictionaryPage, UncompressedPageSize: int32(size),
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(values), Encoding: format.Plain}),
	}}
}

// Plain encodes strings.
func Plain(values ...string) (b []byte) {
	for _, v := range values {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(v))), v...)
	}
	return b
}

// Compressed compresses bytes.
func Compressed(codec format.CompressionCodec, data []byte) []byte {
	b, err := parquet.LookupCompressionCodec(codec).Encode(nil, data)
	if err != nil {
		panic(err)
	}
	return b
}

// Runs encodes runs of zeros of a length each.
func Runs(lengths ...int) (b []byte) {
	for _, n := range lengths {
		b = append(binary.AppendUvarint(b, uint64(n)<<1), 0)
	}
	return b
}

// Levels encodes definition levels: runs of zeros, which mean null.
func Levels(lengths ...int) []byte {
	runs := Runs(lengths...)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(runs))), runs...)
}

// Deltas encodes numbers as DELTA_BINARY_PACKED.
func Deltas(values ...int32) []byte {
	b, err := parquet.DeltaBinaryPacked.EncodeInt32(nil, values)
	if err != nil {
		panic(err)
	}
	return b
}

const many = 1<<31 - 1

// Files returns a file of each kind, by what it has too much of. All have the columns
// "path" and "label".
func Files() map[string][]byte { return files(slices.Concat(compressed(), encodings(), shapes())) }

// Encoded returns those whose encodings stand for more than they hold, which are the
// smallest.
func Encoded() map[string][]byte { return files(encodings()) }

func files(bombs []bomb) map[string][]byte {
	files := map[string][]byte{}
	for _, f := range bombs {
		f.path.Name = "path"
		rows := int(f.shape.Rows)
		label := Column{Name: "label", Optional: true, Pages: []Page{Data(rows, format.Plain, 10, Levels(rows))}}
		columns := append([]Column{f.path, label}, f.others...)
		files[f.name] = File(f.shape, columns...)
	}
	return files
}

type bomb struct {
	name   string
	shape  Shape
	path   Column
	others []Column
}

// photo is a page with one path.
func photo() Page { return Data(1, format.Plain, 9, Plain("a.jpg")) }

func compressed() (bombs []bomb) {
	const size = 300 << 20
	same := func(name string, codec format.CompressionCodec, p Page, n int) {
		column := Column{Codec: codec, Pages: slices.Repeat([]Page{p}, n)}
		bombs = append(bombs, bomb{name: name, shape: Shape{Rows: int64(n)}, path: column})
	}
	codecs := []format.CompressionCodec{format.Snappy, format.Gzip, format.Brotli, format.Zstd, format.Lz4Raw}
	for _, codec := range codecs {
		data := Compressed(codec, Plain(string(make([]byte, size-4))))
		same(codec.String()+" that expands", codec, Data(1, format.Plain, size, data), 1)
		same(codec.String()+" that says less", codec, Data(1, format.Plain, 100, data), 1)
	}
	data := Compressed(format.Zstd, Plain(string(make([]byte, 20<<20-4))))
	same("ZSTD again and again", format.Zstd, Data(1, format.Plain, 20<<20, data), 500)
	same("claims", format.Snappy, Data(1, format.Plain, 1_900_000_000, Compressed(format.Snappy, Plain("a.jpg"))), 64)
	same("damaged LZ4", format.Lz4Raw, Data(1, format.Plain, 100, bytes.Repeat([]byte{0xff}, 100)), 1)
	return bombs
}

func encodings() (bombs []bomb) {
	column := func(name string, pages ...Page) {
		bombs = append(bombs, bomb{name: name, shape: Shape{Rows: 1}, path: Column{Pages: pages}})
	}
	nulls := func(name string, p Page) {
		bombs = append(bombs, bomb{name: name, shape: Shape{Rows: 1}, path: Column{Optional: true, Pages: []Page{p}}})
	}
	nulls("values", Data(many, format.Plain, 10, Levels(many)))
	nulls("levels", Data(1, format.Plain, 30, Levels(many, many, many, many)))
	one := Dictionary(1, 9, Plain("a.jpg"))
	column("indexes", one, Data(1, format.RLEDictionary, 20, append([]byte{1}, Runs(many, many, many)...)))
	index := Data(1, format.RLEDictionary, 3, append([]byte{1}, Runs(1)...))
	column("dictionary", Dictionary(many, 9, Plain("a.jpg")), index)
	huge := binary.AppendUvarint([]byte{0x80, 1, 4}, many) // blocks of 128 in 4 parts
	column("deltas", Data(1, format.DeltaLengthByteArray, 20, append(huge, make([]byte, 12)...)))
	column("second deltas", Data(1, format.DeltaByteArray, 20, slices.Concat(Deltas(0), huge, make([]byte, 12))))
	const n, long = 100_000, 100_000
	prefixes, suffixes := slices.Repeat([]int32{long}, n), make([]int32, n)
	prefixes[0], suffixes[0] = 0, long
	data := slices.Concat(Deltas(prefixes...), Deltas(suffixes...), make([]byte, long))
	column("prefixes", Data(n, format.DeltaByteArray, len(data), data))
	return bombs
}

func shapes() []bomb {
	const rows, long = 1 << 20, 1 << 16
	nulls := Column{Optional: true, Pages: []Page{Data(rows, format.Plain, 10, Levels(rows))}}
	empty := Column{Pages: append(slices.Repeat([]Page{Data(0, format.Plain, 0, nil)}, 5000), photo())}
	cell := Compressed(format.Zstd, Plain(string(bytes.Repeat([]byte{'x'}, long-4))))
	index := Compressed(format.Zstd, append([]byte{1}, Runs(50)...))
	cells := Column{Name: "c", Codec: format.Zstd, Pages: []Page{
		Dictionary(1, long, cell), Data(50, format.RLEDictionary, 30, index),
	}}
	repeated := func(cell string) []Page { // in all rows
		indexes := append([]byte{1}, Runs(rows)...)
		return []Page{Dictionary(1, 4+len(cell), Plain(cell)), Data(rows, format.RLEDictionary, len(indexes), indexes)}
	}
	file := Column{Pages: repeated(string(bytes.Repeat([]byte("y/"), long/2-2)))}
	enough := Column{Name: "c", Pages: repeated(string(make([]byte, rows/8)))} // bytes for so many rows
	return []bomb{
		{"long paths", Shape{Rows: rows}, file, []Column{enough}},
		{"rows", Shape{Rows: rows, Groups: 2000}, nulls, nil},
		{"empty pages", Shape{Rows: 1, Groups: 1000}, empty, nil},
		{"nested columns", Shape{Rows: 1, Nested: 30_000}, Column{Pages: []Page{photo()}}, nil},
		{"long cells", Shape{Rows: 50}, cells, slices.Repeat([]Column{cells}, 1000)},
	}
}
