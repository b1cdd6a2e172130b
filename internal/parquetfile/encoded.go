package parquetfile

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// spare is how many more values than a page has its runs may have, since they come in
// groups of eight.
const spare = 1 << 12

// check finds out whether the library decodes no more from a page than its header says.
// A few bytes can stand for any number of the same value, or repeat a long one; take
// is asked for what they stand for.
func (p *page) check(maxLevel int, data []byte, take func(int64) error) error {
	levels, data, err := p.split(maxLevel, data)
	if err != nil || p.isDictionary() {
		return err
	}
	if p.levels == format.RLE {
		err = p.checkRuns(levels, 1)
	} else { // one bit for each
		err = take(8 * int64(len(levels)))
	}
	if err != nil {
		return err
	}
	switch {
	case p.indexed() && len(data) > 0:
		return p.checkRuns(data[1:], int64(data[0]))
	case p.encoding == format.RLE && len(data) >= 4: // the length comes first
		return p.checkRuns(data[4:], 1)
	case p.encoding == format.DeltaBinaryPacked || p.encoding == format.DeltaLengthByteArray:
		_, err = p.skipDeltas(data)
		return err
	case p.encoding == format.DeltaByteArray:
		return p.checkPrefixes(data, take)
	}
	return nil
}

// split separates definition levels from the values. A page of version 2 has both
// lengths in its header, and may have levels that mean nothing.
func (p *page) split(maxLevel int, data []byte) (levels, values []byte, err error) {
	const lengthBytes = 4
	from, to := int64(0), int64(0)
	switch v2 := p.header.DataPageHeaderV2; {
	case v2.Valid:
		from, to = int64(v2.V.RepetitionLevelsByteLength), p.levelBytes
	case maxLevel > 0 && !p.isDictionary() && len(data) >= lengthBytes:
		from = lengthBytes
		to = from + int64(binary.LittleEndian.Uint32(data))
	}
	if to > int64(len(data)) {
		return nil, nil, damaged("a page without its values")
	}
	if maxLevel > 0 {
		levels = data[from:to]
	}
	return levels, data[to:], nil
}

// checkRuns walks runs of numbers of a width in bits (the format's RLE and bit-packing
// hybrid).
func (p *page) checkRuns(b []byte, width int64) error {
	values := int64(0)
	for len(b) > 0 {
		head, n := binary.Uvarint(b)
		if n <= 0 {
			return damaged("a run without a length")
		}
		b = b[n:]
		count, size := int64(min(head>>1, 1<<40)), (width+7)/8 // of one number again and again
		if head&1 != 0 {
			count, size = 8*count, count*width
		}
		if values += count; values > p.values+spare {
			return damaged("a page has more values than it says")
		}
		b = b[min(size, int64(len(b))):]
	}
	return nil
}

// skipDeltas walks numbers that are stored as differences, in blocks of parts
// (DELTA_BINARY_PACKED), and returns what follows them.
func (p *page) skipDeltas(b []byte) (rest []byte, err error) {
	var head [3]uint64 // numbers in a block, parts of a block, numbers
	for i := range head {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, damaged("numbers without a header")
		}
		head[i], b = v, b[n:]
	}
	if head[2] > uint64(p.values) {
		return nil, damaged("a page has more values than it says")
	}
	parts, left := head[1], int64(head[2])-1
	if parts == 0 || head[0] > 1<<16 || head[0]/parts == 0 {
		return nil, damaged("numbers in %d parts of %d", parts, head[0])
	}
	inPart := int64(head[0] / parts)
	b = skipVarint(b) // the first number
	for left > 0 && len(b) > 0 {
		b = skipVarint(b) // the least difference
		widths := b[:min(parts, uint64(len(b)))]
		b = b[len(widths):]
		for i := 0; i < len(widths) && left > 0; i++ {
			b = b[min(inPart*int64(widths[i])/8, int64(len(b))):]
			left -= inPart
		}
	}
	return b, nil
}

func skipVarint(b []byte) []byte {
	_, n := binary.Varint(b)
	if n <= 0 {
		return nil
	}
	return b[n:]
}

// checkPrefixes asks for the values of DELTA_BYTE_ARRAY: each begins like the one before,
// for a length that is stored first, and the lengths of the rest and the rest follow.
func (p *page) checkPrefixes(data []byte, take func(int64) error) error {
	rest, err := p.skipDeltas(data)
	if err == nil {
		_, err = p.skipDeltas(rest)
	}
	if err != nil {
		return err
	}
	lengths, err := parquet.DeltaBinaryPacked.DecodeInt32(nil, data)
	if err != nil {
		return err
	}
	sum := int64(0)
	for _, n := range lengths {
		sum += max(0, int64(n))
	}
	const copies = 2 // it grows
	return take(copies * sum)
}
