package preprocess

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"

	"golang.org/x/image/tiff"
)

// TIFF tags that x/image/tiff gets wrong or overlooks.
const (
	tagCompression = 259
	tagPhotometric = 262
	tagPlanar      = 284

	compressionGroup3 = 3
	compressionGroup4 = 4
	blackIsZero       = 1
	separatePlanes    = 2
)

// openTIFF decodes the first page. It works around two faults of x/image/tiff,
// which reads separate planes as interleaved ones, and with fax compression
// inverts pictures whose zero is black.
func openTIFF(file []byte, lim Limits) (raster, error) {
	c, err := tiff.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if err := lim.checkPixels(formatTIFF, c.Width, c.Height); err != nil {
		return nil, err
	}
	tags := tiffTags(file)
	if tags[tagPlanar] == separatePlanes && tags[tagPhotometric] > blackIsZero {
		return nil, fmt.Errorf("decode TIFF: %w: separate colour planes; convert it to JPEG or PNG", ErrFormat)
	}
	m, err := tiff.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if grey, ok := m.(*image.Gray); ok && isBlackZeroFax(tags) {
		for i := range grey.Pix {
			grey.Pix[i] ^= 0xff
		}
	}
	return newRaster(m)
}

func isBlackZeroFax(tags map[int]int) bool {
	c := tags[tagCompression]
	return (c == compressionGroup3 || c == compressionGroup4) && tags[tagPhotometric] == blackIsZero
}

// tiffTags returns the first value of each 16-bit entry of the first directory,
// such as the tags above.
func tiffTags(file []byte) map[int]int {
	const entryBytes, short = 12, 3
	if len(file) < 8 {
		return nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if file[0] == 'M' {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(file[4:]))
	if at+2 > int64(len(file)) {
		return nil
	}
	entries, tags := file[at+2:], map[int]int{}
	for range order.Uint16(file[at:]) {
		if len(entries) < entryBytes {
			break
		}
		if order.Uint16(entries[2:]) == short {
			tags[int(order.Uint16(entries))] = int(order.Uint16(entries[8:]))
		}
		entries = entries[entryBytes:]
	}
	return tags
}
