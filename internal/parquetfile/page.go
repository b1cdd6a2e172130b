package parquetfile

import (
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// plainDictionary is what older writers call the encoding of a dictionary, and of the
// numbers of its values.
const plainDictionary format.Encoding = 2

// A page is what its header says.
type page struct {
	header   *format.PageHeader
	values   int64 // with nulls
	encoding format.Encoding
	levels   format.Encoding // of definition levels
	// levelBytes are before the values of a page of version 2, and not compressed.
	levelBytes int64
}

// newPage checks that a header is one of the three that the library reads, and that
// its numbers are possible.
func newPage(h *format.PageHeader) (*page, error) {
	p := &page{header: h}
	v1, v2, dictionary := &h.DataPageHeader, &h.DataPageHeaderV2, &h.DictionaryPageHeader
	fits := h.CompressedPageSize >= 0 && h.UncompressedPageSize >= 0
	switch {
	case h.Type == format.DataPage && v1.Valid && !v2.Valid && !dictionary.Valid:
		p.values, p.encoding, p.levels = int64(v1.V.NumValues), v1.V.Encoding, v1.V.DefinitionLevelEncoding
	case h.Type == format.DataPageV2 && v2.Valid && !v1.Valid && !dictionary.Valid:
		p.values, p.encoding, p.levels = int64(v2.V.NumValues), v2.V.Encoding, format.RLE
		repetition, definition := v2.V.RepetitionLevelsByteLength, v2.V.DefinitionLevelsByteLength
		p.levelBytes = int64(repetition) + int64(definition)
		fits = fits && repetition >= 0 && definition >= 0 && v2.V.NumNulls >= 0 && v2.V.NumRows >= 0 &&
			p.levelBytes <= int64(min(h.CompressedPageSize, h.UncompressedPageSize))
	case h.Type == format.DictionaryPage && dictionary.Valid && !v1.Valid && !v2.Valid:
		p.values, p.encoding = int64(dictionary.V.NumValues), format.Plain
		fits = fits && (dictionary.V.Encoding == format.Plain || dictionary.V.Encoding == plainDictionary)
	default:
		return nil, damaged("a page of type %v with another header", h.Type)
	}
	if !fits || p.values < 0 {
		return nil, damaged("a page of %d bytes with %d values", h.CompressedPageSize, p.values)
	}
	return p, nil
}

func (p *page) isDictionary() bool { return p.header.Type == format.DictionaryPage }

// indexed reports whether the values are numbers of those in the dictionary.
func (p *page) indexed() bool {
	return p.encoding == plainDictionary || p.encoding == format.RLEDictionary
}

// bytes is what the page takes while it is decoded: as stored, expanded, in the
// library and as values; and for each value a level and an index or offset, in slices
// that grow, and, unless the library leaves it where it is, the value.
func (p *page) bytes(c *parquet.Column) int64 {
	const copies, perValue, widest = 4, 2 * (1 + 4), 12
	width := int64(0)
	if p.isDictionary() || p.encoding != format.Plain && !p.indexed() {
		if width = widest; c.Type().Kind() == parquet.FixedLenByteArray {
			width = int64(c.Type().Length())
		}
	}
	size := max(p.header.CompressedPageSize, p.header.UncompressedPageSize)
	return copies*int64(size) + p.values*(perValue+width)
}
